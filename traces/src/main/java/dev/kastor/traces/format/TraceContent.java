package dev.kastor.traces.format;

import dev.kastor.traces.Workload;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.SequencedMap;

/**
 * What a trace holds.
 *
 * @param format the format it was read as
 * @param workload the jobs that can be replayed
 * @param skipped how many others there are, by reason
 */
public record TraceContent(
    TraceFormat format, Workload workload, SequencedMap<String, Integer> skipped) {
  public TraceContent {
    skipped = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(skipped));
  }
}
