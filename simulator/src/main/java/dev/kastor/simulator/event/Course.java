package dev.kastor.simulator.event;

import dev.kastor.traces.Application;
import java.util.Arrays;

/**
 * The whole training of an application at one global batch: optimizer steps over progress.
 *
 * <p>Within an epoch each step adds the gain of the epoch's gradient noise (AdaScale, ICML 2020;
 * Pollux, OSDI 2021, section 3.1), so progress is a broken line over steps, and how far a job gets
 * in any time has a closed form. Immutable.
 */
final class Course {
  private final int globalBatch;
  private final double[] progress;
  private final double[] steps;

  Course(Application application, int globalBatch) {
    this.globalBatch = globalBatch;
    int epochs = application.epochs();
    progress = new double[epochs + 1];
    steps = new double[epochs + 1];
    for (int e = 0; e < epochs; e++) {
      progress[e + 1] = application.progressAt(e + 1);
      steps[e + 1] =
          steps[e]
              + (progress[e + 1] - progress[e])
                  / application.gradient(globalBatch, e).gain(globalBatch);
    }
  }

  int globalBatch() {
    return globalBatch;
  }

  /** Steps to the end of the work. */
  double totalSteps() {
    return steps[steps.length - 1];
  }

  /** Progress at the end of the work. */
  double totalProgress() {
    return progress[progress.length - 1];
  }

  double stepsAt(double someProgress) {
    return along(progress, steps, someProgress);
  }

  double progressAt(double someSteps) {
    return along(steps, progress, someSteps);
  }

  /** Epochs finished after so many steps; the last epoch at the end of the work. */
  int finishedEpochs(double someSteps) {
    return segment(steps, someSteps);
  }

  private static double along(double[] from, double[] to, double x) {
    int last = from.length - 1;
    if (x >= from[last]) {
      return to[last];
    }
    int e = segment(from, x);
    double width = from[e + 1] - from[e];
    return width > 0 ? to[e] + (x - from[e]) / width * (to[e + 1] - to[e]) : to[e];
  }

  /** The last segment that begins at or before {@code x}. */
  private static int segment(double[] knots, double x) {
    int found = Arrays.binarySearch(knots, x);
    int at = found >= 0 ? found : -found - 2;
    return Math.clamp(at, 0, knots.length - 2);
  }
}
