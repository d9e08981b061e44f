package dev.kastor.e2e.attack;

import java.util.List;
import java.util.stream.Stream;

/** All strategies of the hostile tenant. */
final class Strategies {
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
}
