package dev.kastor.e2e.attack;

import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** All strategies of the hostile tenant. */
final class Strategies {
  /** Strategies that each gate tries: one or two of each kind, and of each aim. */
  private static final Set<String> TYPICAL =
      Set.of(
          "pods with the names of a job's next replicas",
          "the highest priority everywhere",
          "a pinned job with GPUs that its queue borrows",
          "reports of progress that jumps",
          "all routes with the tenant's tokens",
          "two hundred guesses at once",
          "a status that the tenant writes himself",
          "reading in other namespaces");

  private Strategies() {}

  static List<Strategy> all() {
    return Stream.of(
            PodStrategies.all(),
            JobStrategies.all(),
            ReportStrategies.all(),
            RequestStrategies.all(),
            RightsStrategies.all())
        .flatMap(List::stream)
        .toList();
  }

  /** Strategies that stand for those of their kind. */
  static List<Strategy> typical() {
    return all().stream().filter(strategy -> TYPICAL.contains(strategy.name())).toList();
  }

  /** All others. */
  static List<Strategy> others() {
    return all().stream().filter(strategy -> !TYPICAL.contains(strategy.name())).toList();
  }
}
