package dev.kastor.agent;

import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * Watch over the process that started this one and holds the other end of its standard input: when
 * that is gone, nobody looks after this one.
 *
 * <p>Whoever asks this process to end may close the pipe as well, before or after the signal, and
 * then it ends within its grace period. Neither comes at once on a busy machine, so a parent that
 * still lives is waited for longer than one that is gone.
 */
final class ParentWatch {
  private static final Duration PAUSE = Duration.ofMillis(50);

  /** How long a signal may be behind the end of the pipe, while its sender lives. */
  static final Duration LIVING = Duration.ofSeconds(5);

  /** The same for one that was sent just before its sender ended. */
  static final Duration GONE = Duration.ofMillis(200);

  private final InputStream pipe;
  private final BooleanSupplier terminating;
  private final BooleanSupplier parentLives;
  private final Pause pause;

  /** Passing of time between two looks. */
  interface Pause {
    void of(Duration time) throws InterruptedException;
  }

  ParentWatch(
      InputStream pipe, BooleanSupplier terminating, BooleanSupplier parentLives, Pause pause) {
    this.pipe = pipe;
    this.terminating = terminating;
    this.parentLives = parentLives;
    this.pause = pause;
  }

  /**
   * The watch over the parent that this process has now.
   *
   * @param terminating whether this process was asked to end
   */
  static ParentWatch ofThisProcess(BooleanSupplier terminating) {
    Optional<ProcessHandle> parent = ProcessHandle.current().parent();
    return new ParentWatch(
        System.in,
        terminating,
        () -> parent.isPresent() && ProcessHandle.current().parent().equals(parent),
        Thread::sleep);
  }

  /** Waits for the end of the pipe; then says whether nobody looks after this process. */
  boolean endsUnattended() throws InterruptedException {
    try {
      byte[] ignored = new byte[64];
      while (pipe.read(ignored) >= 0) {
        // What is written there means nothing.
      }
    } catch (IOException e) {
      // A broken pipe is an end as well.
    }
    Duration waited = Duration.ZERO;
    Duration sinceGone = Duration.ZERO;
    while (!terminating.getAsBoolean()
        && waited.compareTo(LIVING) < 0
        && sinceGone.compareTo(GONE) < 0) {
      pause.of(PAUSE);
      waited = waited.plus(PAUSE);
      sinceGone = parentLives.getAsBoolean() ? Duration.ZERO : sinceGone.plus(PAUSE);
    }
    return !terminating.getAsBoolean();
  }
}
