package dev.kastor.operator.cluster;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import io.fabric8.kubernetes.client.informers.cache.BasicItemStore;
import io.fabric8.kubernetes.client.informers.cache.Cache;

/**
 * Keeps of each pod's spec only where it is, what it asks for and what gates it: the rest is most
 * of a pod, was decided before it was made, and is read by nobody here.
 */
final class LeanPods extends BasicItemStore<Pod> {
  LeanPods() {
    super(Cache::metaNamespaceKeyFunc);
  }

  @Override
  public Pod put(String key, Pod pod) {
    PodSpec spec = pod.getSpec();
    if (spec != null) {
      pod.setSpec(
          new PodSpecBuilder()
              .withNodeName(spec.getNodeName())
              .withSchedulingGates(spec.getSchedulingGates())
              .withContainers(spec.getContainers().stream().map(LeanPods::lean).toList())
              .build());
    }
    return super.put(key, pod);
  }

  private static Container lean(Container container) {
    return new ContainerBuilder()
        .withName(container.getName())
        .withResources(container.getResources())
        .build();
  }
}
