package dev.kastor.operator.pods;

import dev.kastor.operator.kube.PodRequests;
import dev.kastor.operator.kube.Tolerations;
import io.fabric8.kubernetes.api.model.Affinity;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeSelector;
import io.fabric8.kubernetes.api.model.NodeSelectorRequirement;
import io.fabric8.kubernetes.api.model.NodeSelectorTerm;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Toleration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Rules by which kube-scheduler refuses a node for a pod, as far as they follow from the two alone:
 * taints, required node affinity, and what other pods leave of CPU, memory and places. What else it
 * refuses is learned when it does.
 *
 * @param selector labels that a node has to have
 * @param required alternatives of node affinity; none if any node will do
 * @param tolerations of the pod
 * @param requests how much of each resource it asks for
 */
record NodeMatch(
    Map<String, String> selector,
    List<NodeSelectorTerm> required,
    List<Toleration> tolerations,
    Map<String, Double> requests) {
  /** Resources of which nodes run out beside slots; every pod takes one place. */
  private static final Map<String, String> RESOURCES =
      new TreeMap<>(
          Map.of("cpu", "CPU", "memory", "memory", "ephemeral-storage", "ephemeral storage"));

  private static final String PODS = "pods";

  /** Taints that say what the operator knows of a node by itself. */
  private static final Set<String> KNOWN =
      Set.of(
          "node.kubernetes.io/unschedulable",
          "node.kubernetes.io/not-ready",
          "node.kubernetes.io/unreachable");

  /**
   * Taints by which a node says that it is not well. Others, by which it is kept for somebody, a
   * webhook may let pods tolerate: those are learned when kube-scheduler refuses the node.
   */
  private static final Pattern OF_NODES =
      Pattern.compile("^node\\.kubernetes\\.io/|^node\\.cloudprovider\\.|/agent-not-ready$");

  private static final Set<String> HARD = Set.of("NoSchedule", "NoExecute");

  /** Room of a node beside its pods, by resource; places for pods are {@code pods}. */
  record Left(Map<String, Double> amounts) {
    static Left of(Node node, List<PodSpec> pods) {
      Map<String, Double> left = new TreeMap<>();
      var allocatable = node.getStatus() == null ? null : node.getStatus().getAllocatable();
      if (allocatable != null) {
        for (String resource : RESOURCES.keySet()) {
          if (allocatable.containsKey(resource)) {
            double taken = pods.stream().mapToDouble(pod -> PodRequests.of(pod, resource)).sum();
            double has = PodRequests.amount(allocatable.get(resource));
            left.put(resource, Math.max(0, has - taken));
          }
        }
        if (allocatable.containsKey(PODS)) {
          left.put(PODS, Math.max(0, PodRequests.amount(allocatable.get(PODS)) - pods.size()));
        }
      }
      return new Left(left);
    }
  }

  /**
   * The rules of a pod.
   *
   * @param node a node that was chosen for it only to have one, which does not count
   */
  static NodeMatch of(PodSpec pod, PodNode node) {
    Map<String, Double> requests = new TreeMap<>();
    for (String resource : RESOURCES.keySet()) {
      double amount = PodRequests.of(pod, resource);
      if (amount > 0) {
        requests.put(resource, amount);
      }
    }
    List<NodeSelectorTerm> terms =
        Optional.ofNullable(pod.getAffinity())
            .map(Affinity::getNodeAffinity)
            .map(affinity -> affinity.getRequiredDuringSchedulingIgnoredDuringExecution())
            .map(NodeSelector::getNodeSelectorTerms)
            .orElse(List.of())
            .stream()
            .map(term -> without(term, node))
            .toList();
    boolean anywhere =
        terms.stream()
            .anyMatch(
                term -> term.getMatchExpressions().isEmpty() && term.getMatchFields().isEmpty());
    return new NodeMatch(
        pod.getNodeSelector() == null ? Map.of() : Map.copyOf(pod.getNodeSelector()),
        anywhere ? List.of() : terms,
        List.copyOf(Tolerations.of(pod)),
        Map.copyOf(requests));
  }

  private static NodeSelectorTerm without(NodeSelectorTerm term, PodNode node) {
    return new NodeSelectorTerm(
        term.getMatchExpressions().stream()
            .filter(each -> !each.getValues().equals(List.of(node.hostname())))
            .toList(),
        term.getMatchFields());
  }

  /** Why the node takes no such pod; empty if nothing is known to be in the way. */
  Optional<String> problem(Node node, Left left) {
    return taint(node).or(() -> affinity(node)).or(() -> resource(left));
  }

  private Optional<String> taint(Node node) {
    return Tolerations.taints(node).stream()
        .filter(
            taint -> HARD.contains(taint.getEffect()) && OF_NODES.matcher(taint.getKey()).find())
        .filter(taint -> !KNOWN.contains(taint.getKey()))
        .filter(taint -> !Tolerations.tolerate(tolerations, taint))
        .map(taint ->
            "taint %s%s:%s that it does not tolerate"
                .formatted(
                    taint.getKey(),
                    taint.getValue() == null || taint.getValue().isEmpty()
                        ? ""
                        : "=" + taint.getValue(),
                    taint.getEffect()))
        .findFirst();
  }

  private Optional<String> affinity(Node node) {
    Map<String, String> found = node.getMetadata().getLabels();
    Map<String, String> labels = found == null ? Map.of() : found;
    if (!labels.entrySet().containsAll(selector.entrySet())) {
      return Optional.of("it lacks labels of %s".formatted(new TreeMap<>(selector)));
    }
    Map<String, String> fields = Map.of("metadata.name", node.getMetadata().getName());
    boolean suits =
        required.isEmpty()
            || required.stream()
                .anyMatch(term ->
                    term.getMatchExpressions().stream().allMatch(each -> matches(each, labels))
                        && term.getMatchFields().stream().allMatch(each -> matches(each, fields)));
    return suits ? Optional.empty() : Optional.of("required node affinity of the pod");
  }

  private static boolean matches(NodeSelectorRequirement rule, Map<String, String> labels) {
    String value = labels.get(rule.getKey());
    return switch (rule.getOperator()) {
      case "In" -> value != null && rule.getValues().contains(value);
      case "NotIn" -> value == null || !rule.getValues().contains(value);
      case "Exists" -> value != null;
      case "DoesNotExist" -> value == null;
      case "Gt" -> compared(value, rule) > 0;
      case "Lt" -> compared(value, rule) < 0;
      default -> true;
    };
  }

  /** Above 0 where the label is a greater number; 0 where one of the two is none. */
  private static int compared(@Nullable String value, NodeSelectorRequirement rule) {
    try {
      return value == null || rule.getValues().isEmpty()
          ? 0
          : Long.compare(Long.parseLong(value), Long.parseLong(rule.getValues().getFirst()));
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  private Optional<String> resource(Left left) {
    if (left.amounts().getOrDefault(PODS, 1.0) < 1) {
      return Optional.of("as many pods as it may have");
    }
    return RESOURCES.entrySet().stream()
        .filter(resource ->
            requests.getOrDefault(resource.getKey(), 0.0)
                > left.amounts().getOrDefault(resource.getKey(), Double.MAX_VALUE))
        .map(resource -> "not enough " + resource.getValue())
        .findFirst();
  }
}
