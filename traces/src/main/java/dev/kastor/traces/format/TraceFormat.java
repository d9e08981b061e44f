package dev.kastor.traces.format;

import dev.kastor.plugin.Plugin;
import dev.kastor.traces.TraceException;
import dev.kastor.traces.TraceRow;
import dev.kastor.traces.Workload;
import java.nio.file.Path;

/**
 * Format of a file that says which jobs were submitted when. Stateless; its description says who
 * publishes it, in a few words.
 */
public interface TraceFormat extends Plugin {
  /** Whether a file that begins so is in this format. */
  boolean recognises(TraceHead head);

  /**
   * Whether it is a log of a cluster: jobs in any order, at times of any origin. They are sorted
   * and counted from the first submission. Otherwise times must rise, and stand as they are.
   */
  boolean isLog();

  /** Hands over every job. */
  void read(Path file, Sink sink) throws TraceException;

  /** Takes what a reader finds. */
  interface Sink {
    /** Takes a job; refuses one that cannot be. */
    void job(Workload.Job job, TraceRow where) throws TraceException;

    /** Counts a job that cannot be replayed, such as one that never ran. */
    void skip(String reason);
  }
}
