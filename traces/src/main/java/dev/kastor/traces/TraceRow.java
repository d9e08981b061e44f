package dev.kastor.traces;

/** Where something stands in a trace file. */
public interface TraceRow {
  /** An error that names this place; {@code column} may be empty. */
  TraceException problem(String column, String what);
}
