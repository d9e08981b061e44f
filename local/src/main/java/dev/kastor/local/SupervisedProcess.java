package dev.kastor.local;

import dev.kastor.local.kubelet.PrivateFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A process that is started again whenever it dies or does not answer any more, at most once per
 * backoff.
 */
final class SupervisedProcess implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SupervisedProcess.class);
  private static final Duration MIN_BACKOFF = Duration.ofMillis(250);
  private static final Duration MAX_BACKOFF = Duration.ofSeconds(15);

  /** A process that lived this long is not failing over and over. */
  private static final Duration HEALTHY = Duration.ofSeconds(30);

  private static final Duration GRACE = Duration.ofSeconds(5);

  private final String name;
  private final ProcessBuilder builder;
  private final Liveness liveness;
  private final Thread thread;
  private volatile @Nullable Process process;
  private final AtomicInteger starts = new AtomicInteger();
  private volatile boolean closing;

  private SupervisedProcess(String name, ProcessBuilder builder, Liveness liveness) {
    this.name = name;
    this.builder = builder;
    this.liveness = liveness;
    this.thread = Thread.ofVirtual().name(name).unstarted(this::supervise);
  }

  static SupervisedProcess start(
      String name,
      List<String> command,
      Map<String, String> environment,
      Path workingFolder,
      Path log,
      Liveness liveness)
      throws IOException {
    PrivateFiles.touch(log);
    ProcessBuilder builder = new ProcessBuilder(command).directory(workingFolder.toFile());
    builder.environment().putAll(environment);
    builder.redirectErrorStream(true);
    builder.redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
    SupervisedProcess supervised = new SupervisedProcess(name, builder, liveness);
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
    Duration backoff = MIN_BACKOFF;
    try {
      while (!closing) {
        Process now = process;
        long since = System.nanoTime();
        int code = now == null ? -1 : awaitEnd(now);
        if (System.nanoTime() - since > HEALTHY.toNanos()) {
          backoff = MIN_BACKOFF;
        }
        LOG.warn("{} ended with {}; it starts again in {} ms", name, code, backoff.toMillis());
        Thread.sleep(backoff);
        Duration doubled = backoff.multipliedBy(2);
        backoff = doubled.compareTo(MAX_BACKOFF) > 0 ? MAX_BACKOFF : doubled;
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

  private int awaitEnd(Process now) throws InterruptedException {
    Liveness.Watch watch = liveness.watch();
    while (!now.waitFor(liveness.period())) {
      if (watch.isDead()) {
        LOG.warn("{} lives but did not answer {} times; it is killed", name, Liveness.FAILURES);
        return now.destroyForcibly().waitFor();
      }
    }
    return now.exitValue();
  }

  private void launch() throws IOException {
    process = builder.start();
    starts.incrementAndGet();
  }
}
