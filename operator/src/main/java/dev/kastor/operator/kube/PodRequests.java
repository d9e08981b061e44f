package dev.kastor.operator.kube;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Requests of a pod as Kubernetes counts them: its containers and sidecars together, or an init
 * container with the sidecars before it if that is more, and the overhead of its runtime class.
 */
public final class PodRequests {
  private PodRequests() {}

  /** How much of a resource, in its unit: cores, bytes or pieces. */
  public static double of(PodSpec spec, String resource) {
    double sidecars = 0;
    double starting = 0;
    for (Container container : spec.getInitContainers()) {
      double own = of(container, resource);
      starting = Math.max(starting, sidecars + own);
      sidecars += "Always".equals(container.getRestartPolicy()) ? own : 0;
    }
    double running = sidecars;
    for (Container container : spec.getContainers()) {
      running += of(container, resource);
    }
    Map<String, Quantity> overhead = spec.getOverhead();
    return Math.max(starting, running) + (overhead == null ? 0 : amount(overhead.get(resource)));
  }

  private static double of(Container container, String resource) {
    ResourceRequirements resources = container.getResources();
    if (resources == null) {
      return 0;
    }
    Quantity request =
        resources.getRequests() == null ? null : resources.getRequests().get(resource);
    Quantity limit = resources.getLimits() == null ? null : resources.getLimits().get(resource);
    // A server that sets no defaults has the limit only.
    return amount(request == null ? limit : request);
  }

  /** A quantity that may be missing; negative ones count for nothing. */
  public static double amount(@Nullable Quantity quantity) {
    return quantity == null ? 0 : Math.max(0, quantity.getNumericalAmount().doubleValue());
  }
}
