package dev.kastor.protocol;

import org.jspecify.annotations.Nullable;

/**
 * Measured time of optimizer steps under one placement and atomic batch size.
 *
 * @param nodes distinct nodes that held the replicas
 * @param replicas replicas in the step
 * @param atomicBatchSize examples per replica and pass
 * @param steps how many steps the means are taken over, at least 1
 * @param stepSeconds mean seconds of a step without accumulation: one pass and the synchronisation
 * @param syncSeconds mean seconds of that spent in gradient synchronisation, at most stepSeconds
 * @param gpuType GPU type of the replicas' nodes, those of different types joined by {@code +};
 *     absent where it is not known
 */
public record StepProfile(
    int nodes,
    int replicas,
    int atomicBatchSize,
    int steps,
    double stepSeconds,
    double syncSeconds,
    @Nullable String gpuType) {
  /** A nanosecond: no step is shorter. */
  private static final double LEAST_SECONDS = 1e-9;

  /** Four values of Kubernetes labels. */
  private static final int MOST_TYPE_CHARS = 256;

  /** A profile measured on GPUs of a type that is not known. */
  public StepProfile(
      int nodes,
      int replicas,
      int atomicBatchSize,
      int steps,
      double stepSeconds,
      double syncSeconds) {
    this(nodes, replicas, atomicBatchSize, steps, stepSeconds, syncSeconds, null);
  }

  public StepProfile {
    Check.atLeast("profiles.nodes", nodes, 1);
    Check.between("profiles.replicas", replicas, nodes, TelemetryReport.MAX_REPLICAS);
    Check.atLeast("profiles.atomicBatchSize", atomicBatchSize, 1);
    Check.atLeast("profiles.steps", steps, 1);
    Check.atMost("profiles.stepSeconds", stepSeconds, Check.MOST_SECONDS);
    Check.nonNegative("profiles.syncSeconds", syncSeconds);
    if (stepSeconds < LEAST_SECONDS || syncSeconds > stepSeconds) {
      throw new IllegalArgumentException(
          "profiles.stepSeconds (%s) must be at least %s and at least profiles.syncSeconds (%s)"
              .formatted(stepSeconds, LEAST_SECONDS, syncSeconds));
    }
    if (gpuType != null) {
      Check.atMostChars("profiles.gpuType", gpuType, MOST_TYPE_CHARS);
      // Two words for the same would be two keys of one measurement.
      gpuType = gpuType.isEmpty() ? null : gpuType;
    }
  }

  /** GPU type of the replicas' nodes; empty where it is not known. */
  public String typeOrEmpty() {
    return gpuType == null ? "" : gpuType;
  }

  /** The same measurement, had steps taken so many times less time. */
  public StepProfile faster(double times) {
    double step = Math.max(LEAST_SECONDS, stepSeconds / times);
    return new StepProfile(
        nodes,
        replicas,
        atomicBatchSize,
        steps,
        step,
        Math.min(step, syncSeconds / times),
        gpuType);
  }

  /** The same measurement on GPUs of another type. */
  public StepProfile onType(String type) {
    return type.equals(typeOrEmpty())
        ? this
        : new StepProfile(nodes, replicas, atomicBatchSize, steps, stepSeconds, syncSeconds, type);
  }
}
