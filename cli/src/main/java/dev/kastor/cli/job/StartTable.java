package dev.kastor.cli.job;

import dev.kastor.cli.terminal.Format;
import dev.kastor.cli.terminal.Table;
import dev.kastor.crds.start.StartPhase;
import dev.kastor.crds.start.StartTimes;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Table of the newest starts of a job's replicas, by parts. */
final class StartTable {
  private static final double MILLI = 1000.0;

  private StartTable() {}

  /** The table; empty where no start is known. */
  static Optional<Table> of(TrainingJobStatus status) {
    List<StartTimes> starts =
        status.starts() == null
            ? List.of()
            : status.starts().stream().flatMap(line -> StartTimes.parse(line).stream()).toList();
    if (starts.isEmpty()) {
      return Optional.empty();
    }
    List<String> header = new ArrayList<>(List.of("  REPLICA"));
    for (StartPhase phase : StartPhase.values()) {
      header.add(phase.label().replace('-', ' ').toUpperCase(Locale.ROOT));
    }
    header.add("TOTAL");
    Table table = new Table(header.toArray(String[]::new));
    starts.forEach(start -> table.row(row(start)));
    return Optional.of(table);
  }

  private static List<String> row(StartTimes start) {
    List<String> cells = new ArrayList<>(List.of("  " + start.pod()));
    for (StartPhase phase : StartPhase.values()) {
      String cell = seconds(start.millis().get(phase));
      cells.add(
          phase == StartPhase.STATE && !start.source().isEmpty()
              ? cell + " " + start.source()
              : cell);
    }
    cells.add(seconds(start.total().isPresent() ? start.total().getAsLong() : null));
    return cells;
  }

  private static String seconds(@Nullable Long millis) {
    return millis == null ? "unknown" : Format.seconds(millis / MILLI);
  }
}
