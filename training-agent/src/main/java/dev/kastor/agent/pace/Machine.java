package dev.kastor.agent.pace;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Clocks of the machine that a pacer sleeps on. */
interface Machine {
  /** Nanoseconds of a clock that never goes back. */
  long nanos();

  /** Sleeps until that clock is at a time, or the thread is interrupted. */
  void sleepUntil(long nanos);

  /** Time that this process has computed for. */
  Duration computed();

  /** Cores that there are. */
  int cores();

  /** This machine. */
  Machine THIS =
      new Machine() {
        @Override
        public long nanos() {
          return System.nanoTime();
        }

        @Override
        public void sleepUntil(long nanos) {
          long left = nanos - System.nanoTime();
          while (left > 0 && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(left);
            left = nanos - System.nanoTime();
          }
        }

        @Override
        public Duration computed() {
          return ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO);
        }

        @Override
        public int cores() {
          return Runtime.getRuntime().availableProcessors();
        }
      };
}
