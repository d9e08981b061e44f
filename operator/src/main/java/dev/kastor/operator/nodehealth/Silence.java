package dev.kastor.operator.nodehealth;

import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Tells dead nodes from quiet ones by two witnesses: all replicas of a node are silent, and its
 * kubelet is not known to be well either. A node that was lost has no replicas any more, since
 * their jobs went elsewhere: its kubelet alone says that it is back.
 *
 * @param answering nodes with a replica that spoke lately
 * @param lost nodes that neither replicas nor kubelet spoke for
 */
record Silence(Set<String> answering, Set<String> lost) {
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
      Set<String> before,
      Map<String, Instant> heard,
      Predicate<String> ready,
      Function<String, Optional<Instant>> renewed,
      Duration silence,
      Duration leaseAge,
      Instant now) {
    Set<String> answering = new HashSet<>();
    Set<String> lost = new TreeSet<>();
    heard.forEach((node, last) -> {
      if (now.isBefore(last.plus(silence))) {
        answering.add(node);
      }
    });
    Set<String> suspects = new TreeSet<>(heard.keySet());
    suspects.addAll(before);
    suspects.removeAll(answering);
    for (String node : suspects) {
      if (!ready.test(node)
          || renewed.apply(node).filter(at -> !now.isBefore(at.plus(leaseAge))).isPresent()) {
        lost.add(node);
      }
    }
    return new Silence(answering, lost);
  }
}
