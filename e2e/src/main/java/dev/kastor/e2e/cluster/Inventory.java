package dev.kastor.e2e.cluster;

import java.io.IOException;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Objects of a cluster of whatever kind its API server knows, as {@code kind/namespace/name}. The
 * record of what happened, events, and the heartbeats of nodes, their leases, are left out.
 */
public record Inventory(Set<String> objects) {
  private static final String EACH =
      "jsonpath={range .items[*]}{.kind}/{.metadata.namespace}/{.metadata.name}{\"\\n\"}{end}";

  private static final String HEARTBEAT = "Lease/kube-node-lease/";

  public Inventory {
    objects = Set.copyOf(objects);
  }

  /** All that is there now. */
  public static Inventory take() throws IOException, InterruptedException {
    String kinds =
        Shell.run("kubectl", "api-resources", "--verbs=list", "-o", "name")
            .good()
            .lines()
            .filter(kind -> !kind.startsWith("events") && !kind.endsWith("metrics.k8s.io"))
            .collect(Collectors.joining(","));
    return new Inventory(
        Shell.run("kubectl", "get", kinds, "--all-namespaces", "-o", EACH)
            .good()
            .lines()
            .filter(object -> !object.startsWith(HEARTBEAT))
            .collect(Collectors.toSet()));
  }

  /** Objects that are here and were not there, in the order of their names. */
  public Set<String> since(Inventory earlier) {
    Set<String> more = new TreeSet<>(objects);
    more.removeAll(earlier.objects);
    return more;
  }
}
