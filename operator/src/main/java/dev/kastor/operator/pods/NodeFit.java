package dev.kastor.operator.pods;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.kube.SlotCount;
import io.fabric8.kubernetes.api.model.Node;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Which GPU types suit the node selector of a job's pods: policies decide by type, so a type suits
 * if all of its nodes with slots do.
 */
@Singleton
public final class NodeFit {
  private final ClusterCache cache;
  private final ProfileStore profiles;
  private final SlotCount slots;
  private final String typeLabel;

  public NodeFit(ClusterCache cache, ProfileStore profiles, OperatorConfig config) {
    this.cache = cache;
    this.profiles = profiles;
    slots = new SlotCount(config.slotResource());
    typeLabel = config.gpuTypeLabel();
  }

  /** The types; empty if the job does not choose. */
  public Optional<Set<String>> types(TrainingJob job) {
    Map<String, String> selector = selector(job);
    return selector.isEmpty()
        ? Optional.empty()
        : Optional.of(
            types(
                selector,
                cache.nodes().stream().filter(node -> slots.allocatable(node) > 0).toList(),
                typeLabel));
  }

  /** The labels that nodes of the job have to have; the template's own come first. */
  public Map<String, String> selector(TrainingJob job) {
    Map<String, String> all = new TreeMap<>();
    profiles.of(job).map(profile -> profile.spec().nodeSelector()).ifPresent(all::putAll);
    Map<String, Object> template = job.getSpec().template();
    if (template != null
        && template.get("spec") instanceof Map<?, ?> spec
        && spec.get("nodeSelector") instanceof Map<?, ?> own) {
      own.forEach((key, value) -> all.put(String.valueOf(key), String.valueOf(value)));
    }
    return all;
  }

  static Set<String> types(Map<String, String> selector, List<Node> nodes, String typeLabel) {
    Set<String> suitable = new TreeSet<>();
    Set<String> others = new TreeSet<>();
    for (Node node : nodes) {
      Map<String, String> labels = node.getMetadata().getLabels();
      Map<String, String> there = labels == null ? Map.of() : labels;
      String type = there.getOrDefault(typeLabel, "");
      (there.entrySet().containsAll(selector.entrySet()) ? suitable : others).add(type);
    }
    suitable.removeAll(others);
    return suitable;
  }
}
