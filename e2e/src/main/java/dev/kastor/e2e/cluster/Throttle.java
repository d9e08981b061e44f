package dev.kastor.e2e.cluster;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Process that computes for a tenth of the time and stands still for the rest, until closed. */
public final class Throttle implements AutoCloseable {
  private static final Duration RUNS = Duration.ofMillis(20);
  private static final Duration STANDS = Duration.ofMillis(180);

  private final long pid;
  private final Thread thread;
  private volatile boolean over;
  private volatile @Nullable IOException failure;

  /** Begins to slow a process down. */
  public Throttle(long pid) {
    this.pid = pid;
    thread = Thread.ofPlatform().daemon().name("throttle-" + pid).start(this::run);
  }

  /** Lets the process run as fast as it can. */
  @Override
  public void close() throws IOException {
    over = true;
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // The thread lets the process go on and ends by itself.
      return;
    }
    IOException failed = failure;
    if (failed != null) {
      throw failed;
    }
  }

  private void run() {
    try {
      while (!over) {
        signal("STOP");
        Thread.sleep(STANDS);
        signal("CONT");
        Thread.sleep(RUNS);
      }
    } catch (IOException e) {
      failure = e;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void signal(String name) throws IOException, InterruptedException {
    Process kill =
        new ProcessBuilder("kill", "-" + name, Long.toString(pid))
            .redirectErrorStream(true)
            .start();
    String said = new String(kill.getInputStream().readAllBytes(), UTF_8);
    if (kill.waitFor() != 0) {
      throw new IOException("%s could not be sent to process %d: %s".formatted(name, pid, said));
    }
  }
}
