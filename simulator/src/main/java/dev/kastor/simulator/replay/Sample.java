package dev.kastor.simulator.replay;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.SequencedMap;

/**
 * The cluster right after a decision.
 *
 * @param seconds since the start of the replay
 * @param activeJobs submitted and not finished
 * @param runningJobs of those, with at least one GPU
 * @param gpusInUse held by jobs
 * @param gpus of the whole cluster
 * @param efficiency mean statistical efficiency of the running jobs in (0, 1]; not a number where
 *     none runs
 * @param gpusByApplication GPUs held, by application
 */
public record Sample(
    double seconds,
    int activeJobs,
    int runningJobs,
    int gpusInUse,
    int gpus,
    double efficiency,
    SequencedMap<String, Integer> gpusByApplication) {
  public Sample {
    gpusByApplication =
        Collections.unmodifiableSequencedMap(new LinkedHashMap<>(gpusByApplication));
  }

  /** Jobs that wait for their first or next GPU. */
  public int queuedJobs() {
    return activeJobs - runningJobs;
  }
}
