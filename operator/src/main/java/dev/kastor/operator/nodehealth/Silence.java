package dev.kastor.operator.nodehealth;

import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Tells dead nodes from quiet ones by two witnesses: all replicas of a node are silent, and its
 * kubelet is not known to be well either. A node that was lost has no replicas any more, since
 * their jobs went elsewhere: its kubelet alone says that it is back.
 *
 * @param answering nodes with a replica that spoke lately
 * @param lost nodes that neither replicas nor kubelet spoke for, with the renewal of the kubelet's
 *     lease that was known then; {@link Instant#MIN} where none was
 */
record Silence(Set<String> answering, Map<String, Instant> lost) {
  /**
   * @param before nodes that were lost at the last look
   * @param heard when a replica of a node last spoke; nodes without running replicas are left out
   * @param ready whether the API server says that the node is ready
   * @param renewed when its kubelet last renewed its lease; empty where that cannot be known. Only
   *     asked for nodes that are silent and ready
   * @param silence how long replicas may be silent
   * @param leaseAge how old a lease may be
   */
  static Silence of(
      Map<String, Instant> before,
      Map<String, Instant> heard,
      Predicate<String> ready,
      Function<String, Optional<Instant>> renewed,
      Duration silence,
      Duration leaseAge,
      Instant now) {
    Set<String> answering = new HashSet<>();
    Map<String, Instant> lost = new TreeMap<>();
    heard.forEach((node, last) -> {
      if (now.isBefore(last.plus(silence))) {
        answering.add(node);
      } else if (!before.containsKey(node)) {
        if (!ready.test(node)) {
          lost.put(node, Instant.MIN);
        } else {
          renewed
              .apply(node)
              .filter(at -> !now.isBefore(at.plus(leaseAge)))
              .ifPresent(at -> lost.put(node, at));
        }
      }
    });
    before.forEach((node, lease) -> {
      // By a change of the lease: the node's clock may be wrong.
      boolean spoke =
          answering.contains(node)
              || (ready.test(node)
                  && renewed.apply(node).filter(at -> !at.equals(lease)).isPresent());
      if (!spoke) {
        lost.put(node, lease);
      }
    });
    return new Silence(answering, lost);
  }
}
