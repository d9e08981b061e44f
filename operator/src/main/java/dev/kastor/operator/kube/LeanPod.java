package dev.kastor.operator.kube;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import java.util.List;
import java.util.Set;

/**
 * Pod as the operator keeps it: where it is, what it asks for, what gates it, how far it is and
 * what is wrong with it, and when it was scheduled and ran. The rest is most of a pod, and is read
 * by nobody here.
 */
final class LeanPod {
  /** Conditions that say more than that all is as it should be. */
  private static final Set<String> TELLING = Set.of("PodScheduled", "DisruptionTarget");

  private LeanPod() {}

  /** The same pod, without what is not kept. */
  static Pod of(Pod pod) {
    if (pod.getSpec() != null) {
      pod.setSpec(lean(pod.getSpec()));
    }
    if (pod.getStatus() != null) {
      pod.setStatus(lean(pod.getStatus()));
    }
    Lean.withoutEmpties(pod.getMetadata());
    return pod;
  }

  private static PodSpec lean(PodSpec spec) {
    PodSpec kept = new PodSpec();
    kept.setNodeName(spec.getNodeName());
    kept.setSchedulingGates(spec.getSchedulingGates());
    kept.setInitContainers(spec.getInitContainers().stream().map(LeanPod::lean).toList());
    kept.setContainers(spec.getContainers().stream().map(LeanPod::lean).toList());
    kept.setOverhead(spec.getOverhead());
    kept.setActiveDeadlineSeconds(spec.getActiveDeadlineSeconds());
    return Lean.withoutEmpties(kept);
  }

  private static Container lean(Container container) {
    Container kept = new Container();
    kept.setName(container.getName());
    kept.setRestartPolicy(container.getRestartPolicy());
    ResourceRequirements resources = container.getResources();
    if (resources != null) {
      kept.setResources(Lean.withoutEmpties(resources));
      resources.getLimits().values().forEach(Lean::withoutEmpties);
      resources.getRequests().values().forEach(Lean::withoutEmpties);
    }
    return Lean.withoutEmpties(kept);
  }

  private static PodStatus lean(PodStatus status) {
    PodStatus kept = new PodStatus();
    kept.setPhase(status.getPhase());
    // Of a pod that is past that, the phase says that its node has taken it.
    boolean pending = "Pending".equals(status.getPhase());
    boolean ended = "Succeeded".equals(status.getPhase()) || "Failed".equals(status.getPhase());
    kept.setStartTime(pending ? status.getStartTime() : null);
    kept.setConditions(
        status.getConditions().stream()
            .filter(each -> telling(each, ended))
            .map(LeanPod::lean)
            .toList());
    // Of an init container that runs there is nothing to tell.
    kept.setInitContainerStatuses(
        lean(status.getInitContainerStatuses()).stream()
            .filter(container -> container.getState().getRunning() == null)
            .toList());
    kept.setContainerStatuses(lean(status.getContainerStatuses()));
    return Lean.withoutEmpties(kept);
  }

  private static List<ContainerStatus> lean(List<ContainerStatus> containers) {
    return containers.stream()
        .filter(container -> container.getState() != null)
        .map(LeanPod::lean)
        .toList();
  }

  private static ContainerStatus lean(ContainerStatus container) {
    ContainerStatus kept = new ContainerStatus();
    kept.setName(container.getName());
    kept.setState(Lean.withoutEmpties(container.getState()));
    if (kept.getState().getRunning() != null) {
      Lean.withoutEmpties(kept.getState().getRunning());
    }
    return Lean.withoutEmpties(kept);
  }

  private static PodCondition lean(PodCondition condition) {
    condition.setType(condition.getType().intern());
    condition.setStatus(condition.getStatus() == null ? null : condition.getStatus().intern());
    return Lean.withoutEmpties(condition);
  }

  private static boolean telling(PodCondition condition, boolean ended) {
    boolean scheduled =
        "PodScheduled".equals(condition.getType()) && "True".equals(condition.getStatus());
    return TELLING.contains(condition.getType()) && !(ended && scheduled);
  }
}
