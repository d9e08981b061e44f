package dev.kastor.simulator.sweep;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.simulator.report.RunsJson;
import dev.kastor.simulator.run.Outcome;
import dev.kastor.simulator.run.Run;
import dev.kastor.simulator.run.RunListener;
import dev.kastor.simulator.run.Simulate;
import dev.kastor.traces.AtomicFile;
import dev.kastor.traces.TraceException;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Replays all runs of a grid, each once however often its process is killed: a journal beside the
 * output holds what is done. The output appears at the end, in the order of the grid, and is a
 * function of the grid and its input files alone; what replays cost depends on the machine and goes
 * to a file of its own.
 */
public final class Sweep implements Closeable {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final String RESULT = "result";
  private static final String COSTS = "costs";

  private final List<Run> runs;
  private final List<Integer> left = new ArrayList<>();
  private final Path output;
  private final Journal journal;
  private final Simulate simulate;

  private Sweep(List<Run> runs, Path output, Journal journal) throws TraceException {
    this.runs = runs;
    this.output = output;
    this.journal = journal;
    Map<String, ObjectNode> done = journal.entries();
    for (int r = 0; r < runs.size(); r++) {
      if (!done.containsKey(Integer.toString(r))) {
        left.add(r);
      }
    }
    simulate = Simulate.prepare(left.stream().map(runs::get).toList());
  }

  /**
   * Checks all runs and finds which of them an earlier process has made.
   *
   * @throws SweepException if the journal is another sweep's or in use
   */
  public static Sweep open(List<Run> runs, Path output)
      throws IOException, TraceException, SweepException {
    // Bad input must not leave a journal behind.
    Simulate.prepare(runs);
    Files.createDirectories(output.toAbsolutePath().resolveSibling("."));
    Journal journal = Journal.open(journal(output), Fingerprint.of(runs));
    try {
      return new Sweep(List.copyOf(runs), output, journal);
    } catch (TraceException | RuntimeException e) {
      journal.close();
      throw e;
    }
  }

  /** The file that holds what is done while a sweep is under way. */
  public static Path journal(Path output) {
    return output.resolveSibling(output.getFileName() + ".journal");
  }

  /** The file with what each replay cost. */
  public static Path costs(Path output) {
    return output.resolveSibling(output.getFileName() + ".costs.csv");
  }

  /** Runs that are still to be made, in grid order; a listener counts in them. */
  public List<Run> left() {
    return simulate.runs();
  }

  /** How many runs an earlier process has made. */
  public int done() {
    return runs.size() - left.size();
  }

  /** Makes the runs that are left, then writes the output and removes the journal. */
  public void run(int threads, RunListener listener) throws IOException, InterruptedException {
    try {
      simulate.each(
          threads,
          new RunListener() {
            @Override
            public void at(int run, double seconds, int done, int all) {
              listener.at(run, seconds, done, all);
            }

            @Override
            public void finished(int run, Outcome outcome) {
              note(left.get(run), outcome);
              listener.finished(run, outcome);
            }
          });
    } catch (UncheckedIOException e) {
      throw new IOException(e.getMessage(), e);
    }
    finish();
  }

  private void note(int run, Outcome outcome) {
    ObjectNode entry = MAPPER.createObjectNode();
    entry.set(RESULT, RunsJson.run(outcome, false));
    ObjectNode costs = entry.putObject(COSTS);
    costs.put("cpuSeconds", outcome.replay().cpuSeconds());
    costs.put("decisionMeanMillis", outcome.replay().decisions().mean());
    costs.put("decisionP99Millis", outcome.replay().decisions().p99());
    costs.put("decisionMaxMillis", outcome.replay().decisions().max());
    try {
      journal.add(Integer.toString(run), entry);
    } catch (IOException e) {
      throw new UncheckedIOException(
          "%s cannot be written: %s".formatted(journal(output), e.getMessage()), e);
    }
  }

  private void finish() throws IOException {
    Map<String, ObjectNode> entries = journal.entries();
    ArrayNode results = MAPPER.createArrayNode();
    StringBuilder costs =
        new StringBuilder(
            "run,cpuSeconds,decisionMeanMillis,decisionP99Millis,decisionMaxMillis\n");
    for (int r = 0; r < runs.size(); r++) {
      ObjectNode entry = Objects.requireNonNull(entries.get(Integer.toString(r)));
      results.add(entry.get(RESULT));
      costs.append(r);
      entry.path(COSTS).forEach(value -> costs.append(',').append(value.asDouble()));
      costs.append('\n');
    }
    AtomicFile.write(costs(output), costs.toString());
    AtomicFile.write(output, RunsJson.text(results));
    Files.deleteIfExists(journal(output));
  }

  @Override
  public void close() throws IOException {
    journal.close();
  }
}
