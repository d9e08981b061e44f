package dev.kastor.scheduler.estimate;

import dev.kastor.protocol.StepProfile;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.ToDoubleFunction;

/**
 * The newest reports of one (nodes, replicas, atomic batch), merged by medians over steps.
 *
 * <p>A median, and of two middles the lower one, because the errors of step times have one sign: a
 * process that is still compiling its code, a checkpoint or a busy neighbour make steps slower,
 * nothing makes them faster than they are. A single report weighs at most {@value #MAX_STEPS} steps
 * so that one long interval cannot outvote all newer ones.
 */
final class ProfileWindow {
  private static final int SIZE = 9;
  private static final int MAX_STEPS = 50;

  private final Deque<StepProfile> newest = new ArrayDeque<>(SIZE + 1);
  private double fittedStepSeconds = Double.NaN;
  private double fittedComputeSeconds = Double.NaN;

  void add(StepProfile profile) {
    newest.addLast(profile);
    if (newest.size() > SIZE) {
      newest.removeFirst();
    }
  }

  /** One profile that stands for all in the window. */
  StepProfile merged() {
    StepProfile any = newest.getLast();
    double step = median(StepProfile::stepSeconds);
    double compute = median(ProfileWindow::computeSeconds);
    int steps = 0;
    for (StepProfile profile : newest) {
      steps += weight(profile);
    }
    return new StepProfile(
        any.nodes(),
        any.replicas(),
        any.atomicBatchSize(),
        steps,
        step,
        Math.min(step, Math.max(0, step - compute)),
        any.gpuType());
  }

  /** Remembers that the present medians went into a fit. */
  void fitted() {
    fittedStepSeconds = median(StepProfile::stepSeconds);
    fittedComputeSeconds = median(ProfileWindow::computeSeconds);
  }

  /** Whether the medians have moved by more than this share since the last fit, or never fitted. */
  boolean drifted(double share) {
    double step = Math.abs(median(StepProfile::stepSeconds) / fittedStepSeconds - 1);
    // Compute time is judged against the whole step: what matters is how wrong a prediction gets.
    double compute =
        Math.abs(median(ProfileWindow::computeSeconds) - fittedComputeSeconds) / fittedStepSeconds;
    return !(step <= share && compute <= share);
  }

  private static double computeSeconds(StepProfile profile) {
    return profile.stepSeconds() - profile.syncSeconds();
  }

  private static int weight(StepProfile profile) {
    return Math.min(profile.steps(), MAX_STEPS);
  }

  private double median(ToDoubleFunction<StepProfile> seconds) {
    // No more than a few, and asked for at each report: sorted as they are put in.
    double[] sorted = new double[newest.size()];
    int[] weights = new int[newest.size()];
    int count = 0;
    int total = 0;
    for (StepProfile profile : newest) {
      double value = seconds.applyAsDouble(profile);
      int at = count++;
      while (at > 0 && sorted[at - 1] > value) {
        sorted[at] = sorted[at - 1];
        weights[at] = weights[at - 1];
        at--;
      }
      sorted[at] = value;
      weights[at] = weight(profile);
      total += weights[at];
    }
    int below = 0;
    for (int i = 0; i < count; i++) {
      below += weights[i];
      if (2 * below >= total) {
        return sorted[i];
      }
    }
    throw new IllegalStateException("median of an empty window");
  }
}
