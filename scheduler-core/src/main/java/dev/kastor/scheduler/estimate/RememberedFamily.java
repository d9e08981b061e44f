package dev.kastor.scheduler.estimate;

import dev.kastor.protocol.StepProfile;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/**
 * All that is stored of a family.
 *
 * @param name the family
 * @param profilesByType one merged profile for each key, by GPU type
 * @param maxProfiledReplicas most replicas that any of its jobs was measured with
 * @param initialBatch M0 of the job that last reported noise
 * @param noise noise scales by share of the work, without those never seen
 * @param finishedSteps scale-invariant steps of the jobs that ended last, oldest first
 * @param rescalePauses pauses of its newest live changes, oldest first
 * @param restartPauses pauses of its newest starts, oldest first
 * @param trust in the memory when it was last heard of, in (0, 1]
 * @param heard when a job of it last reported
 */
public record RememberedFamily(
    String name,
    SequencedMap<String, List<StepProfile>> profilesByType,
    int maxProfiledReplicas,
    int initialBatch,
    List<NoiseBucket> noise,
    List<Double> finishedSteps,
    List<Duration> rescalePauses,
    List<Duration> restartPauses,
    double trust,
    Instant heard) {
  public RememberedFamily {
    if (name.isEmpty()) {
      throw new IllegalArgumentException("name of a family must not be empty");
    }
    if (maxProfiledReplicas < 0 || initialBatch < 1) {
      throw new IllegalArgumentException(
          "maxProfiledReplicas (%d) must not be negative and initialBatch (%d) at least 1"
              .formatted(maxProfiledReplicas, initialBatch));
    }
    if (!(trust > 0 && trust <= 1)) {
      throw new IllegalArgumentException("trust must be in (0, 1] but is " + trust);
    }
    for (double steps : finishedSteps) {
      if (!(steps > 0) || Double.isInfinite(steps)) {
        throw new IllegalArgumentException(
            "finishedSteps must be positive and finite but are " + steps);
      }
    }
    SequencedMap<String, List<StepProfile>> copy = new LinkedHashMap<>();
    profilesByType.forEach((type, profiles) -> copy.put(type, List.copyOf(profiles)));
    profilesByType = Collections.unmodifiableSequencedMap(copy);
    noise = List.copyOf(noise);
    finishedSteps = List.copyOf(finishedSteps);
    rescalePauses = List.copyOf(rescalePauses);
    restartPauses = List.copyOf(restartPauses);
    for (Duration pause : rescalePauses) {
      notNegative("rescalePauses", pause);
    }
    for (Duration pause : restartPauses) {
      notNegative("restartPauses", pause);
    }
  }

  private static void notNegative(String field, Duration pause) {
    if (pause.isNegative()) {
      throw new IllegalArgumentException(
          "%s must not be negative but are %s".formatted(field, pause));
    }
  }
}
