package dev.kastor.engine.bench;

import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.function.DoubleSupplier;

/**
 * Times of rounds of the same work, after as many rounds that warm up and do not count.
 *
 * @param median seconds of a round
 * @param lowest seconds of a round
 * @param highest seconds of a round
 */
public record Rounds(double median, double lowest, double highest) {
  /** What is measured. */
  @FunctionalInterface
  public interface Work {
    void run() throws InterruptedException;
  }

  /** Processor time of the calling thread. */
  public static Rounds ofProcessor(int rounds, Work work) throws InterruptedException {
    return of(rounds, work, ManagementFactory.getThreadMXBean()::getCurrentThreadCpuTime);
  }

  /** Time of the clock. */
  static Rounds ofClock(int rounds, Work work) throws InterruptedException {
    return of(rounds, work, System::nanoTime);
  }

  private static Rounds of(int rounds, Work work, DoubleSupplier nanos)
      throws InterruptedException {
    double[] seconds = new double[rounds];
    for (int i = -rounds; i < rounds; i++) {
      double begun = nanos.getAsDouble();
      work.run();
      if (i >= 0) {
        seconds[i] = (nanos.getAsDouble() - begun) / 1e9;
      }
    }
    Arrays.sort(seconds);
    return new Rounds(seconds[rounds / 2], seconds[0], seconds[rounds - 1]);
  }
}
