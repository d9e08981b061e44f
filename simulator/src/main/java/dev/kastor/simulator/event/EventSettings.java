package dev.kastor.simulator.event;

import dev.kastor.scheduler.model.Queue;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Rules and costs of a replay from event to event.
 *
 * @param round longest time between decisions while any job is unfinished
 * @param decisionInterval shortest time between decisions; what happens in between is decided on
 *     together
 * @param reportInterval time between two reports of a job that trains
 * @param growth share of the time since the replay began that rounds and reports are apart where
 *     that is more: what comes late need not be known to the second. 0 where they keep their times
 * @param liveRescale costs of a rescale of a running job that keeps its GPU type and a replica on
 *     one of its nodes; every other change costs what its application says
 * @param interference share of its speed that a job on several nodes loses while one of them holds
 *     another such job, in [0, 1)
 * @param adversity what a scheduler does not know, or knows wrongly
 * @param checkpointInterval training time between two checkpoints: the most that a failure undoes.
 *     Planned changes lose nothing
 * @param failures how nodes fail; empty if they never do
 * @param resizes planned changes of the cluster, by rising time
 * @param autoscaling how the cluster follows advice on its size; empty if it does not
 * @param preemptions how preemptible nodes are taken away; empty if they never are
 * @param queues queues with a weight of their own, by name
 * @param limit virtual time after which a replay is given up
 */
public record EventSettings(
    Duration round,
    Duration decisionInterval,
    Duration reportInterval,
    double growth,
    LiveRescale liveRescale,
    double interference,
    Adversity adversity,
    Duration checkpointInterval,
    Optional<NodeFailures> failures,
    List<Resize> resizes,
    Optional<Autoscaling> autoscaling,
    Optional<NodeFailures> preemptions,
    Map<String, Queue> queues,
    Duration limit) {
  public EventSettings {
    resizes = List.copyOf(resizes);
    queues = Map.copyOf(queues);
    if (!round.isPositive() || decisionInterval.isNegative() || !reportInterval.isPositive()) {
      throw new IllegalArgumentException(
          "round (%s) and reportInterval (%s) must be positive, decisionInterval (%s) not negative"
              .formatted(round, reportInterval, decisionInterval));
    }
    if (decisionInterval.compareTo(round) > 0) {
      throw new IllegalArgumentException(
          "decisionInterval (%s) is above round (%s). Lower it or raise round."
              .formatted(decisionInterval, round));
    }
    if (!(growth >= 0)) {
      throw new IllegalArgumentException("growth (%s) must not be negative".formatted(growth));
    }
    if (!checkpointInterval.isPositive()) {
      throw new IllegalArgumentException(
          "checkpointInterval (%s) must be positive".formatted(checkpointInterval));
    }
    if (!(interference >= 0 && interference < 1)) {
      throw new IllegalArgumentException(
          "interference (%s) must be at least 0 and below 1".formatted(interference));
    }
    if (autoscaling.isPresent() && !resizes.isEmpty()) {
      throw new IllegalArgumentException(
          "a cluster cannot both follow advice on its size and have planned resizes");
    }
    for (int i = 1; i < resizes.size(); i++) {
      if (resizes.get(i).at().compareTo(resizes.get(i - 1).at()) < 0) {
        throw new IllegalArgumentException(
            "resizes must be sorted by time but %s comes after %s"
                .formatted(resizes.get(i).at(), resizes.get(i - 1).at()));
      }
    }
  }

  /**
   * A round a minute, decisions a second apart or more, reports every half minute, usual rescales,
   * 2 % noise, checkpoints every ten minutes, nodes that neither fail nor leave, spot nodes
   * neither, at most 400 days.
   */
  public static EventSettings defaults() {
    return new EventSettings(
        Duration.ofSeconds(60),
        Duration.ofSeconds(1),
        Duration.ofSeconds(30),
        0,
        LiveRescale.USUAL,
        0,
        Adversity.USUAL,
        Duration.ofMinutes(10),
        Optional.empty(),
        List.of(),
        Optional.empty(),
        Optional.empty(),
        Map.of(),
        Duration.ofDays(400));
  }

  /** The same with other times between decisions. */
  public EventSettings withDecisions(Duration atLeast, Duration atMost) {
    return new EventSettings(
        atMost,
        atLeast,
        reportInterval,
        growth,
        liveRescale,
        interference,
        adversity,
        checkpointInterval,
        failures,
        resizes,
        autoscaling,
        preemptions,
        queues,
        limit);
  }

  /** The same with another time between two reports. */
  public EventSettings withReports(Duration interval) {
    return new EventSettings(
        round,
        decisionInterval,
        interval,
        growth,
        liveRescale,
        interference,
        adversity,
        checkpointInterval,
        failures,
        resizes,
        autoscaling,
        preemptions,
        queues,
        limit);
  }

  /** The same with rounds and reports that come further apart as time passes. */
  public EventSettings withGrowth(double share) {
    return new EventSettings(
        round,
        decisionInterval,
        reportInterval,
        share,
        liveRescale,
        interference,
        adversity,
        checkpointInterval,
        failures,
        resizes,
        autoscaling,
        preemptions,
        queues,
        limit);
  }

  /** The same with other costs of a live rescale. */
  public EventSettings withLiveRescale(LiveRescale costs) {
    return new EventSettings(
        round,
        decisionInterval,
        reportInterval,
        growth,
        costs,
        interference,
        adversity,
        checkpointInterval,
        failures,
        resizes,
        autoscaling,
        preemptions,
        queues,
        limit);
  }

  /** The same with another loss between neighbours. */
  public EventSettings withInterference(double share) {
    return new EventSettings(
        round,
        decisionInterval,
        reportInterval,
        growth,
        liveRescale,
        share,
        adversity,
        checkpointInterval,
        failures,
        resizes,
        autoscaling,
        preemptions,
        queues,
        limit);
  }

  /** The same with other noise in reports. */
  public EventSettings withTimingNoise(double relative) {
    return withAdversity(adversity.withTimingNoise(relative));
  }

  /** The same with other things that a scheduler does not know. */
  public EventSettings withAdversity(Adversity other) {
    return new EventSettings(
        round,
        decisionInterval,
        reportInterval,
        growth,
        liveRescale,
        interference,
        other,
        checkpointInterval,
        failures,
        resizes,
        autoscaling,
        preemptions,
        queues,
        limit);
  }

  /** The same with a cluster that follows advice on its size. */
  public EventSettings withAutoscaling(Optional<Autoscaling> follows) {
    return new EventSettings(
        round,
        decisionInterval,
        reportInterval,
        growth,
        liveRescale,
        interference,
        adversity,
        checkpointInterval,
        failures,
        resizes,
        follows,
        preemptions,
        queues,
        limit);
  }

  /** Seconds from now to the next round at the latest. */
  double roundSeconds(VirtualClock clock) {
    return Math.max(VirtualClock.seconds(round), growth * clock.elapsed());
  }

  /** Seconds from a report now to the next. */
  double reportSeconds(VirtualClock clock) {
    return Math.max(VirtualClock.seconds(reportInterval), growth * clock.elapsed());
  }

  /** When the last queue opens by itself; the epoch where none does. */
  Instant lastReopening() {
    return reopenings().max(Comparator.naturalOrder()).orElse(Instant.EPOCH);
  }

  /** When a queue opens by itself next, in seconds; infinite where none will. */
  double nextReopening(VirtualClock clock) {
    return reopenings()
        .mapToDouble(at -> VirtualClock.seconds(Duration.between(Instant.EPOCH, at)))
        .filter(at -> at > clock.now())
        .min()
        .orElse(Double.POSITIVE_INFINITY);
  }

  private Stream<Instant> reopenings() {
    return queues.values().stream()
        .flatMap(queue -> queue.reopening().stream())
        .map(Queue.Reopening::at);
  }

  /** The queues at an instant of a replay. */
  Map<String, Queue> queuesAt(Instant now) {
    if (queues.values().stream().allMatch(queue -> queue.reopening().isEmpty())) {
      return queues;
    }
    Map<String, Queue> then = new HashMap<>(queues);
    then.replaceAll((name, queue) -> queue.at(now));
    return then;
  }

  /** The same with other queues. */
  public EventSettings withQueues(Map<String, Queue> weighted) {
    return new EventSettings(
        round,
        decisionInterval,
        reportInterval,
        growth,
        liveRescale,
        interference,
        adversity,
        checkpointInterval,
        failures,
        resizes,
        autoscaling,
        preemptions,
        weighted,
        limit);
  }

  /** The same with nodes that fail. */
  public EventSettings withFailures(NodeFailures nodes, Duration checkpoints) {
    return new EventSettings(
        round,
        decisionInterval,
        reportInterval,
        growth,
        liveRescale,
        interference,
        adversity,
        checkpoints,
        Optional.of(nodes),
        resizes,
        autoscaling,
        preemptions,
        queues,
        limit);
  }

  /** The same with planned changes of the cluster. */
  public EventSettings withResizes(List<Resize> changes) {
    return new EventSettings(
        round,
        decisionInterval,
        reportInterval,
        growth,
        liveRescale,
        interference,
        adversity,
        checkpointInterval,
        failures,
        changes,
        autoscaling,
        preemptions,
        queues,
        limit);
  }

  /** The same with preemptible nodes that are taken away. */
  public EventSettings withPreemptions(Optional<NodeFailures> takes) {
    return new EventSettings(
        round,
        decisionInterval,
        reportInterval,
        growth,
        liveRescale,
        interference,
        adversity,
        checkpointInterval,
        failures,
        resizes,
        autoscaling,
        takes,
        queues,
        limit);
  }

  /** How a node fails, for whatever reason. */
  Optional<NodeFailures> failures(boolean preemptible) {
    if (!preemptible || preemptions.isEmpty()) {
      return failures;
    }
    return failures.map(both -> both.and(preemptions.get())).or(() -> preemptions);
  }
}
