package dev.kastor.simulator.event;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * When nodes fail, or are taken away, and return: each has its own stream of random times, so that
 * what one node does depends neither on the others nor on the policy. Owned by one simulation.
 */
final class Breakdowns {
  private final List<Optional<NodeFailures>> failures;
  private final List<SplittableRandom> random = new ArrayList<>();

  /** How each node fails; empty for one that never does. */
  Breakdowns(List<Optional<NodeFailures>> failures, SplittableRandom seeds) {
    this.failures = List.copyOf(failures);
    for (int n = 0; n < failures.size(); n++) {
      random.add(seeds.split());
    }
  }

  void begin(Agenda agenda) {
    for (int n = 0; n < random.size(); n++) {
      fails(0, n, agenda);
    }
  }

  void failed(Agenda.Event event, Agenda agenda) {
    int node = event.subject();
    failures
        .get(node)
        .ifPresent(f ->
            agenda.note(
                event.seconds() + exponential(node, VirtualClock.seconds(f.meanTimeToRepair())),
                Agenda.Kind.NODE_RETURNS,
                node,
                0));
  }

  void returned(Agenda.Event event, Agenda agenda) {
    fails(event.seconds(), event.subject(), agenda);
  }

  private void fails(double from, int node, Agenda agenda) {
    failures
        .get(node)
        .ifPresent(f ->
            agenda.note(
                from + exponential(node, VirtualClock.seconds(f.meanTimeBetween())),
                Agenda.Kind.NODE_FAILS,
                node,
                0));
  }

  private double exponential(int node, double mean) {
    return mean * random.get(node).nextExponential();
  }
}
