package dev.kastor.scheduler.model;

import dev.kastor.protocol.Progress;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.Outlook;
import java.time.Duration;
import java.util.Optional;

/**
 * A job as a policy sees it in one round.
 *
 * @param spec what was asked for
 * @param allocation what it has now
 * @param model its goodput as fitted from its own reports and what its family remembers; empty
 *     where neither suffices
 * @param maxProfiledReplicas most replicas that it, or its family, was ever measured with; 0 before
 *     the first report
 * @param progress how far it is; empty before the first report
 * @param age time since submission
 * @param attainedService GPU-seconds it has held
 * @param restarts times it went from one allocation to another with a pause
 * @param rescaleCost measured or assumed pause of a change
 * @param restartCost the same of one after which nothing runs where it ran, or on another GPU type
 * @param startCost measured or assumed time from an allocation of more replicas to their first
 *     step, while the others train on
 * @param sinceChange time since its allocation last changed, be it to none; zero if it never had
 *     one
 * @param unsaved what it has trained since it last saved its state: lost if it stops without
 *     warning
 * @param pinned its allocation must stay as it is (it is starting, or a person said so)
 * @param restarting it is in the pause of a change
 * @param outlook what its family's past says of its future
 * @param foresight what only a simulator knows of it
 */
public record JobState(
    JobSpec spec,
    Allocation allocation,
    Optional<GoodputModel> model,
    int maxProfiledReplicas,
    Optional<Progress> progress,
    Duration age,
    double attainedService,
    int restarts,
    Duration rescaleCost,
    Duration restartCost,
    Duration startCost,
    Duration sinceChange,
    Duration unsaved,
    boolean pinned,
    boolean restarting,
    Outlook outlook,
    Optional<Foresight> foresight) {
  public JobState {
    if (sinceChange.isNegative()) {
      throw new IllegalArgumentException(
          "sinceChange of job %s must not be negative but is %s".formatted(spec.id(), sinceChange));
    }
  }

  /** A job of which nobody knows when it saved its state, and whose replicas start at once. */
  public JobState(
      JobSpec spec,
      Allocation allocation,
      Optional<GoodputModel> model,
      int maxProfiledReplicas,
      Optional<Progress> progress,
      Duration age,
      double attainedService,
      int restarts,
      Duration rescaleCost,
      Duration restartCost,
      Duration sinceChange,
      boolean pinned,
      boolean restarting,
      Outlook outlook,
      Optional<Foresight> foresight) {
    this(
        spec,
        allocation,
        model,
        maxProfiledReplicas,
        progress,
        age,
        attainedService,
        restarts,
        rescaleCost,
        restartCost,
        Duration.ZERO,
        sinceChange,
        Duration.ZERO,
        pinned,
        restarting,
        outlook,
        foresight);
  }

  /** A job of whose family nothing is remembered. */
  public JobState(
      JobSpec spec,
      Allocation allocation,
      Optional<GoodputModel> model,
      int maxProfiledReplicas,
      Optional<Progress> progress,
      Duration age,
      double attainedService,
      int restarts,
      Duration rescaleCost,
      Duration sinceChange,
      boolean pinned,
      boolean restarting,
      Optional<Foresight> foresight) {
    this(
        spec,
        allocation,
        model,
        maxProfiledReplicas,
        progress,
        age,
        attainedService,
        restarts,
        rescaleCost,
        rescaleCost,
        sinceChange,
        pinned,
        restarting,
        Outlook.NONE,
        foresight);
  }

  /** A job whose future and whose last change nobody knows. */
  public JobState(
      JobSpec spec,
      Allocation allocation,
      Optional<GoodputModel> model,
      int maxProfiledReplicas,
      Optional<Progress> progress,
      Duration age,
      double attainedService,
      int restarts,
      Duration rescaleCost,
      boolean pinned) {
    this(
        spec,
        allocation,
        model,
        maxProfiledReplicas,
        progress,
        age,
        attainedService,
        restarts,
        rescaleCost,
        rescaleCost,
        Duration.ZERO,
        pinned,
        false,
        Outlook.NONE,
        Optional.empty());
  }

  /** The same with an allocation that must stay as it is. */
  public JobState pinnedAsItIs() {
    return new JobState(
        spec,
        allocation,
        model,
        maxProfiledReplicas,
        progress,
        age,
        attainedService,
        restarts,
        rescaleCost,
        restartCost,
        startCost,
        sinceChange,
        unsaved,
        true,
        restarting,
        outlook,
        foresight);
  }

  /** The same of a job that has just lost what it holds: its next change is a start. */
  public JobState stopped() {
    return new JobState(
        spec,
        Allocation.NONE,
        model,
        maxProfiledReplicas,
        progress,
        age,
        attainedService,
        restarts,
        restartCost,
        restartCost,
        startCost,
        Duration.ZERO,
        Duration.ZERO,
        false,
        false,
        outlook,
        foresight);
  }

  /** The same of another spec. */
  public JobState withSpec(JobSpec other) {
    return new JobState(
        other,
        allocation,
        model,
        maxProfiledReplicas,
        progress,
        age,
        attainedService,
        restarts,
        rescaleCost,
        restartCost,
        startCost,
        sinceChange,
        unsaved,
        pinned,
        restarting,
        outlook,
        foresight);
  }

  public JobId id() {
    return spec.id();
  }

  /** How far it is, as it last said; before that it has done nothing of what it declares. */
  public Progress reached() {
    return progress.orElseGet(() -> new Progress(0, 0, spec.declaredSteps(), 0, 0));
  }
}
