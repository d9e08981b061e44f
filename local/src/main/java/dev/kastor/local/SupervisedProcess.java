package dev.kastor.local;

import dev.kastor.local.kubelet.PrivateFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A process that is started again whenever it ends, or {@link Liveness hangs} and is killed, each
 * time after a {@link Backoff}.
 */
final class SupervisedProcess implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SupervisedProcess.class);
  private static final Duration GRACE = Duration.ofSeconds(5);

  private final String name;
  private final ProcessBuilder builder;
  private final Path log;
  private final Liveness liveness;
  private final LongSupplier nanos;
  private final Thread thread;
  private volatile @Nullable Process process;
  private final AtomicInteger starts = new AtomicInteger();
  private volatile Ends ends = new Ends(0, 0);
  private volatile boolean closing;

  private SupervisedProcess(
      String name, ProcessBuilder builder, Path log, Liveness liveness, LongSupplier nanos) {
    this.name = name;
    this.builder = builder;
    this.log = log;
    this.liveness = liveness;
    this.nanos = nanos;
    this.thread = Thread.ofVirtual().name(name).unstarted(this::supervise);
  }

  /**
   * Starts a process and its supervision.
   *
   * @param log file that its output is appended to
   * @param nanos the time by which it is judged, such as {@link System#nanoTime}
   */
  static SupervisedProcess start(
      String name,
      List<String> command,
      Map<String, String> environment,
      Path workingFolder,
      Path log,
      Liveness liveness,
      LongSupplier nanos)
      throws IOException {
    PrivateFiles.touch(log);
    ProcessBuilder builder = new ProcessBuilder(command).directory(workingFolder.toFile());
    builder.environment().putAll(environment);
    builder.redirectErrorStream(true);
    builder.redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
    SupervisedProcess supervised = new SupervisedProcess(name, builder, log, liveness, nanos);
    supervised.launch();
    supervised.thread.start();
    return supervised;
  }

  /** The process at this moment; empty between two of them. */
  OptionalLong pid() {
    Process now = process;
    return now != null && now.isAlive() ? OptionalLong.of(now.pid()) : OptionalLong.empty();
  }

  /** How often it was started. */
  int starts() {
    return starts.get();
  }

  /** How often it ended. */
  Ends ends() {
    return ends;
  }

  /** What it has done until now; its CPU time begins anew with each start. */
  Activity activity() {
    Process now = process;
    return now == null ? new Activity(0, Duration.ZERO) : Activity.of(now.toHandle(), log);
  }

  /** Ends the process for good. */
  @Override
  public void close() {
    closing = true;
    thread.interrupt();
    try {
      thread.join();
      Process last = process;
      if (last != null) {
        last.destroy();
        if (!last.waitFor(GRACE)) {
          last.destroyForcibly().waitFor();
        }
      }
    } catch (InterruptedException e) {
      Process last = process;
      if (last != null) {
        last.destroyForcibly();
      }
      Thread.currentThread().interrupt();
    }
  }

  private void supervise() {
    Backoff backoff = new Backoff();
    try {
      while (!closing) {
        Process now = process;
        Liveness.Watch watch = liveness.watch(nanos.getAsLong());
        int code = now == null ? -1 : awaitEnd(now, watch);
        ends = new Ends(ends.count() + 1, code);
        Duration pause = backoff.next(watch.steady());
        LOG.warn("{} ended with {}; it starts again in {} ms", name, code, pause.toMillis());
        Thread.sleep(pause);
        try {
          launch();
        } catch (IOException e) {
          process = null;
          LOG.error("{} cannot be started again yet: {}", name, e.getMessage());
        }
      }
    } catch (InterruptedException e) {
      // Closing.
    }
  }

  private int awaitEnd(Process now, Liveness.Watch watch) throws InterruptedException {
    while (!now.waitFor(liveness.period())) {
      Liveness.Answer answer = liveness.question().ask();
      Optional<String> hangs =
          watch.hangs(answer, Activity.of(now.toHandle(), log), nanos.getAsLong());
      if (hangs.isPresent()) {
        LOG.warn("{} lives but hangs: {}; it is killed", name, hangs.get());
        return now.destroyForcibly().waitFor();
      }
    }
    return now.exitValue();
  }

  private void launch() throws IOException {
    process = builder.start();
    starts.incrementAndGet();
  }

  /**
   * Ends of a process.
   *
   * @param count how many there were
   * @param lastCode exit code of the last one, -1 where it could not be started
   */
  record Ends(int count, int lastCode) {}
}
