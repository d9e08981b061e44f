package dev.kastor.simulator.run;

import dev.kastor.scheduler.model.Queue;
import dev.kastor.scheduler.model.Quota;
import dev.kastor.simulator.event.Adversity;
import dev.kastor.simulator.event.Autoscaling;
import dev.kastor.simulator.event.EventSettings;
import dev.kastor.simulator.event.LiveRescale;
import dev.kastor.simulator.event.NodeFailures;
import dev.kastor.simulator.event.ReportFaults;
import dev.kastor.simulator.event.Resize;
import dev.kastor.simulator.event.Stragglers;
import dev.kastor.simulator.recording.Recording;
import dev.kastor.simulator.replay.DeclaredWork;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.StringJoiner;

/**
 * What makes a replay harder than an undisturbed one.
 *
 * @param interference share of its speed that a job on several nodes loses while one of them holds
 *     another such job, in [0, 1)
 * @param liveRescale what it costs a running job to change its size; mode events only
 * @param failures how nodes fail; mode events only
 * @param resizes planned changes of the cluster; mode events only
 * @param adversity what a scheduler does not know; but for declared work mode events only
 * @param autoscaling how the cluster follows advice on its size; mode events only
 * @param interruptionsPerDay how often each preemptible node is taken away in a day; mode events
 *     only
 * @param queues queues with a weight of their own, by name
 * @param pace how often the scheduler decides and jobs report; mode events only
 */
public record Conditions(
    double interference,
    LiveRescale liveRescale,
    Optional<NodeFailures> failures,
    List<Resize> resizes,
    Adversity adversity,
    Optional<Autoscaling> autoscaling,
    double interruptionsPerDay,
    SequencedMap<String, Queue> queues,
    Pace pace) {
  /** Nothing disturbs, and rescaling costs what Kastor's agent was measured to need. */
  public static final Conditions PLAIN =
      new Conditions(
          0,
          LiveRescale.USUAL,
          Optional.empty(),
          List.of(),
          Adversity.USUAL,
          Optional.empty(),
          1,
          new LinkedHashMap<>(),
          Pace.USUAL);

  public Conditions {
    resizes = List.copyOf(resizes);
    queues = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(queues));
    if (!(interference >= 0 && interference < 1)) {
      throw new IllegalArgumentException(
          "interference must be at least 0 and below 1 but is " + interference);
    }
    if (!(interruptionsPerDay >= 0 && interruptionsPerDay <= 1440)) {
      throw new IllegalArgumentException(
          "interruptionsPerDay must be from 0 to 1440 but is " + interruptionsPerDay);
    }
  }

  /**
   * The same as they were on a recorded cluster, where nothing else is asked for.
   *
   * @param itsNodes whether the replay is on the nodes of the recording, which come and go as they
   *     did
   */
  public Conditions recorded(Recording recording, boolean itsNodes) {
    boolean comeAndGo = itsNodes && resizes.isEmpty() && autoscaling.isEmpty();
    return new Conditions(
        interference,
        liveRescale,
        failures,
        comeAndGo ? recording.resizes() : resizes,
        adversity,
        autoscaling,
        comeAndGo ? 0 : interruptionsPerDay,
        queues.isEmpty() ? recording.queues() : queues,
        new Pace(recording.delay(), recording.reports()));
  }

  /** Whether only mode events can replay them. */
  boolean needEvents() {
    return !liveRescale.equals(PLAIN.liveRescale())
        || failures.isPresent()
        || !resizes.isEmpty()
        || autoscaling.isPresent()
        || interruptionsPerDay != PLAIN.interruptionsPerDay
        || !pace.equals(PLAIN.pace)
        || queues.values().stream().anyMatch(queue -> queue.budget().isPresent())
        || adversity.timingNoise() != Adversity.USUAL.timingNoise()
        || !adversity.reports().equals(ReportFaults.NONE)
        || !adversity.stragglers().equals(Stragglers.NONE);
  }

  EventSettings settings(Duration round) {
    Duration delay = pace.decisionDelay();
    EventSettings settings =
        EventSettings.defaults()
            .withDecisions(delay.compareTo(round) > 0 ? round : delay, round)
            .withReports(pace.reports())
            .withInterference(interference)
            .withLiveRescale(liveRescale)
            .withAdversity(adversity)
            .withQueues(queues)
            .withAutoscaling(autoscaling)
            .withPreemptions(NodeFailures.preemptions(interruptionsPerDay))
            .withResizes(resizes);
    return failures
        .map(nodes -> settings.withFailures(nodes, settings.checkpointInterval()))
        .orElse(settings);
  }

  /** One line; empty for {@link #PLAIN}. */
  @Override
  public String toString() {
    StringJoiner parts = new StringJoiner(", ");
    if (interference > 0) {
      parts.add("interference " + interference);
    }
    if (!liveRescale.equals(PLAIN.liveRescale())) {
      parts.add("live rescale %d ms".formatted(liveRescale.pause().toMillis()));
      if (!liveRescale.start().isZero()) {
        parts.add("added replicas start in %d ms".formatted(liveRescale.start().toMillis()));
      }
    }
    failures.ifPresent(nodes ->
        parts.add(
            "a node fails every %d s for %d s"
                .formatted(
                    nodes.meanTimeBetween().toSeconds(), nodes.meanTimeToRepair().toSeconds())));
    resizes.forEach(resize ->
        parts.add(
            "%s%d nodes from %d s"
                .formatted(
                    resize.gpuType().isEmpty() ? "" : resize.gpuType() + " ",
                    resize.nodes(),
                    resize.at().toSeconds())));
    describe(adversity, parts);
    if (interruptionsPerDay != PLAIN.interruptionsPerDay) {
      parts.add("spot nodes are taken away %s times a day".formatted(interruptionsPerDay));
    }
    autoscaling.ifPresent(follows ->
        parts.add(
            "nodes as advised %s after %d s"
                .formatted(follows.rules(), follows.delay().toSeconds())));
    queues.values().forEach(queue -> parts.add(said(queue)));
    if (!pace.equals(PLAIN.pace)) {
      parts.add(
          "decisions after %d ms, reports every %d ms"
              .formatted(pace.decisionDelay().toMillis(), pace.reports().toMillis()));
    }
    return parts.toString();
  }

  private static void describe(Adversity adversity, StringJoiner parts) {
    if (!adversity.declaredWork().equals(DeclaredWork.EXACT)) {
      parts.add("declared work " + adversity.declaredWork());
    }
    if (adversity.timingNoise() != Adversity.USUAL.timingNoise()) {
      parts.add("timing noise " + adversity.timingNoise());
    }
    ReportFaults reports = adversity.reports();
    if (reports.lost() > 0) {
      parts.add("%s of the reports are lost".formatted(reports.lost()));
    }
    if (!reports.late().isZero()) {
      parts.add("reports %d ms late".formatted(reports.late().toMillis()));
    }
    Stragglers stragglers = adversity.stragglers();
    if (stragglers.share() > 0 && stragglers.factor() > 1) {
      parts.add(
          "%s of the nodes %s times slower".formatted(stragglers.share(), stragglers.factor()));
    }
  }

  /** A queue with its weight, quota and budget, such as {@code queue a=1.0 quota 4 of cohort c}. */
  private static String said(Queue queue) {
    StringBuilder text = new StringBuilder();
    text.append("queue %s=%s".formatted(queue.name(), queue.weight()));
    queue
        .quota()
        .ifPresent(quota -> {
          text.append(" quota ").append(quota.gpus());
          if (!queue.cohort().isEmpty()) {
            text.append(" of cohort ").append(queue.cohort());
          }
          if (quota.borrowingLimit() < Quota.UNLIMITED) {
            text.append(" borrowing ").append(quota.borrowingLimit());
          }
          if (quota.lendingLimit() < Quota.UNLIMITED) {
            text.append(" lending ").append(quota.lendingLimit());
          }
        });
    queue
        .budget()
        .ifPresent(budget ->
            text.append(" budget ")
                .append(budget)
                .append(
                    switch (budget.whenSpent()) {
                      case STOP -> "";
                      case LOWER_PRIORITY -> ", then lowered";
                    }));
    return text.toString();
  }
}
