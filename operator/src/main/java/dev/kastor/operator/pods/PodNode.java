package dev.kastor.operator.pods;

import dev.kastor.operator.kube.Labels;
import io.fabric8.kubernetes.api.model.Affinity;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeAffinity;
import io.fabric8.kubernetes.api.model.NodeSelector;
import io.fabric8.kubernetes.api.model.NodeSelectorRequirement;
import io.fabric8.kubernetes.api.model.NodeSelectorTerm;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The node that was chosen for a pod.
 *
 * @param name of the node
 * @param hostname its {@code kubernetes.io/hostname} label
 */
public record PodNode(String name, String hostname) {
  private static final String HOSTNAME = "kubernetes.io/hostname";

  public static PodNode of(Node node) {
    Map<String, String> labels = node.getMetadata().getLabels();
    String label = labels == null ? null : labels.get(HOSTNAME);
    String name = node.getMetadata().getName();
    return new PodNode(name, label == null ? name : label);
  }

  /** Lets kube-scheduler put the pod on this node only, if it may be there at all. */
  void choose(Pod pod) {
    Map<String, String> annotations = new TreeMap<>(pod.getMetadata().getAnnotations());
    annotations.put(Labels.NODE, name);
    pod.getMetadata().setAnnotations(annotations);
    require(pod, new NodeSelectorRequirement(HOSTNAME, "In", List.of(hostname)));
  }

  /** Lets kube-scheduler put the pod on none of these nodes. */
  static void avoid(List<PodNode> nodes, Pod pod) {
    if (!nodes.isEmpty()) {
      List<String> hostnames = nodes.stream().map(PodNode::hostname).sorted().toList();
      require(pod, new NodeSelectorRequirement(HOSTNAME, "NotIn", hostnames));
    }
  }

  private static void require(Pod pod, NodeSelectorRequirement requirement) {
    PodSpec spec = pod.getSpec();
    if (spec.getAffinity() == null) {
      spec.setAffinity(new Affinity());
    }
    if (spec.getAffinity().getNodeAffinity() == null) {
      spec.getAffinity().setNodeAffinity(new NodeAffinity());
    }
    NodeAffinity affinity = spec.getAffinity().getNodeAffinity();
    NodeSelector required = affinity.getRequiredDuringSchedulingIgnoredDuringExecution();
    List<NodeSelectorTerm> terms = new ArrayList<>();
    // Terms are alternatives, so each has to have it.
    for (NodeSelectorTerm term :
        required == null || required.getNodeSelectorTerms().isEmpty()
            ? List.of(new NodeSelectorTerm())
            : required.getNodeSelectorTerms()) {
      List<NodeSelectorRequirement> expressions = new ArrayList<>(term.getMatchExpressions());
      expressions.add(requirement);
      terms.add(new NodeSelectorTerm(expressions, new ArrayList<>(term.getMatchFields())));
    }
    affinity.setRequiredDuringSchedulingIgnoredDuringExecution(new NodeSelector(terms));
  }
}
