package dev.kastor.cli.local;

import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.local.LocalException;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** Work that must clean up behind itself also when Ctrl-C or SIGTERM ends this process. */
public final class Foreground {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private Foreground() {}

  /**
   * Runs the work on this thread; a signal interrupts it and waits until it has cleaned up.
   *
   * @return the work's exit status
   */
  public static int run(Work work) {
    Thread self = Thread.currentThread();
    CountDownLatch done = new CountDownLatch(1);
    AtomicBoolean signalled = new AtomicBoolean();
    Thread hook =
        Thread.ofPlatform()
            .unstarted(() -> {
              signalled.set(true);
              self.interrupt();
              try {
                if (!done.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
                  System.err.println("kastor: cleaning up took too long; something may be left");
                }
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            });
    Runtime.getRuntime().addShutdownHook(hook);
    try {
      return work.run();
    } catch (InterruptedException e) {
      return ExitCode.OK;
    } catch (LocalException e) {
      return failed(signalled.get(), String.valueOf(e.getMessage()), e);
    } catch (IOException e) {
      return failed(signalled.get(), "a file or socket failed: " + e.getMessage(), e);
    } finally {
      done.countDown();
      removeHook(hook);
    }
  }

  /** Exit status of work that failed; what a signal interrupted has not failed. */
  private static int failed(boolean signalled, String why, Exception cause) {
    if (signalled) {
      return ExitCode.OK;
    }
    throw new CliException(ExitCode.FAILED, why, cause);
  }

  private static void removeHook(Thread hook) {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The hook is what ends this process; it has what it waits for.
    }
  }

  /** Something that a signal may interrupt. */
  @FunctionalInterface
  public interface Work {
    int run() throws InterruptedException, IOException, LocalException;
  }
}
