package dev.kastor.simulator;

import java.util.List;
import java.util.Locale;

/** Replays side by side as plain text; JCT is job completion time. */
final class ReplayTable {
  private ReplayTable() {}

  static String of(List<Replay> replays) {
    StringBuilder table =
        new StringBuilder(
            String.format(
                Locale.ROOT,
                "%-10s %10s %10s %10s %10s %10s %12s %9s %10s%n",
                "policy",
                "avg JCT s",
                "p50 s",
                "p90 s",
                "p99 s",
                "wait s",
                "makespan s",
                "restarts",
                "GPU-hours"));
    for (Replay replay : replays) {
      table.append(
          String.format(
              Locale.ROOT,
              "%-10s %10.1f %10.1f %10.1f %10.1f %10.1f %12.1f %9d %10.2f%n",
              replay.policy(),
              replay.averageSeconds(),
              replay.percentileSeconds(50),
              replay.percentileSeconds(90),
              replay.percentileSeconds(99),
              replay.averageWaitSeconds(),
              replay.makespanSeconds(),
              replay.restarts(),
              replay.gpuHours()));
    }
    return table.toString();
  }
}
