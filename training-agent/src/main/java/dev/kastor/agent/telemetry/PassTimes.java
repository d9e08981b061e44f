package dev.kastor.agent.telemetry;

import dev.kastor.protocol.Slowest;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** How long each member of a ring computed, summed over steps. Not thread-safe. */
final class PassTimes {
  private List<String> pods = List.of();
  private double[] seconds = {};
  private int steps;

  /** Counts one step; other members than before begin anew. */
  void add(List<String> members, double[] passSeconds) {
    if (!members.equals(pods)) {
      pods = List.copyOf(members);
      seconds = new double[passSeconds.length];
      steps = 0;
    }
    for (int rank = 0; rank < seconds.length; rank++) {
      seconds[rank] += passSeconds[rank];
    }
    steps++;
  }

  /** Who was slowest; empty without at least two members and a step. Forgets what was counted. */
  Optional<Slowest> take() {
    if (steps == 0 || seconds.length < 2) {
      return Optional.empty();
    }
    int slowest = 0;
    for (int rank = 1; rank < seconds.length; rank++) {
      slowest = seconds[rank] > seconds[slowest] ? rank : slowest;
    }
    double[] others = new double[seconds.length - 1];
    System.arraycopy(seconds, 0, others, 0, slowest);
    System.arraycopy(seconds, slowest + 1, others, slowest, others.length - slowest);
    Arrays.sort(others);
    Slowest found =
        new Slowest(
            pods.get(slowest), seconds[slowest] / steps, others[(others.length - 1) / 2] / steps);
    Arrays.fill(seconds, 0);
    steps = 0;
    return Optional.of(found);
  }
}
