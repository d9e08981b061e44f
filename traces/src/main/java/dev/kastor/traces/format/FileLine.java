package dev.kastor.traces.format;

import dev.kastor.traces.TraceException;
import dev.kastor.traces.TraceRow;
import java.nio.file.Path;

/** A line of a file that is not CSV. */
record FileLine(Path file, int line) implements TraceRow {
  @Override
  public TraceException problem(String column, String what) {
    return new TraceException(
        column.isEmpty()
            ? "%s, line %d: %s".formatted(file, line, what)
            : "%s, line %d, %s: %s".formatted(file, line, column, what));
  }
}
