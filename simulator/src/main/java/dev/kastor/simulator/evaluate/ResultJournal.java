package dev.kastor.simulator.evaluate;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.simulator.bound.LowerBound;
import dev.kastor.simulator.run.Run;
import dev.kastor.simulator.sweep.Journal;
import dev.kastor.simulator.sweep.SweepException;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * Results in a file: each is on disk as soon as its replay has ended. A result serves again while
 * the settings of its replay, the content of the files and the {@link CodeVersion} are the same;
 * others stay where they are. One process at a time holds the file.
 */
public final class ResultJournal implements KnownResults, Closeable {
  private static final String KIND = "policy evaluation";

  private final Path file;
  private final Journal journal;
  private final RunKeys keys;
  private final Map<String, ObjectNode> known;

  private ResultJournal(Path file, Journal journal, RunKeys keys) {
    this.file = file;
    this.journal = journal;
    this.keys = keys;
    known = journal.entries();
  }

  /**
   * Opens a file, or begins one.
   *
   * @throws SweepException if it holds something else or is in use
   */
  public static ResultJournal open(Path file) throws IOException, SweepException {
    RunKeys keys = new RunKeys(CodeVersion.read());
    Files.createDirectories(file.toAbsolutePath().resolveSibling("."));
    return new ResultJournal(file, Journal.open(file, KIND), keys);
  }

  @Override
  public synchronized Optional<LowerBound> findBound(Run run, Duration slot) {
    ObjectNode entry = known.get(key(run, slot));
    return entry == null ? Optional.empty() : LowerBound.of(entry);
  }

  @Override
  public synchronized void noteBound(Run run, Duration slot, LowerBound bound) {
    ObjectNode entry = JsonNodeFactory.instance.objectNode();
    bound.put(entry);
    add(key(run, slot), entry, "lower bound of " + run.workload());
  }

  @Override
  public synchronized Optional<Result> find(Run run) {
    ObjectNode entry = known.get(key(run));
    return entry == null ? Optional.empty() : Result.of(entry);
  }

  @Override
  public synchronized void note(Run run, Result result) {
    add(key(run), result.json(), run.label());
  }

  private void add(String key, ObjectNode entry, String label) {
    try {
      entry.put("label", label);
      journal.add(key, entry);
    } catch (IOException e) {
      throw new UncheckedIOException("%s cannot be written: %s".formatted(file, e.getMessage()), e);
    }
  }

  private String key(Run run) {
    try {
      return keys.of(run);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private String key(Run run, Duration slot) {
    try {
      return keys.ofBound(run, slot);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() throws IOException {
    journal.close();
  }
}
