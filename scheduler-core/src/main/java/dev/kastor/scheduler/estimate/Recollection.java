package dev.kastor.scheduler.estimate;

import dev.kastor.scheduler.goodput.NoiseCurve;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a family knew at one time; immutable, and the same object while nothing has changed.
 *
 * @param profilesByType step times by GPU type, in a stable order
 * @param maxProfiledReplicas most replicas measured
 * @param noise its noise curve, if it met any
 * @param finishedSteps scale-invariant steps of jobs that ended, oldest first
 * @param rescalePause median pause of live changes; empty before the first
 * @param restartPause median pause of starts; empty before the first
 * @param life how often the family had begun anew
 */
record Recollection(
    Map<String, RememberedProfiles> profilesByType,
    int maxProfiledReplicas,
    Optional<NoiseCurve> noise,
    List<Double> finishedSteps,
    Optional<Duration> rescalePause,
    Optional<Duration> restartPause,
    int life) {}
