package dev.kastor.scheduler;

import dev.kastor.protocol.Progress;
import dev.kastor.scheduler.goodput.GoodputModel;
import java.time.Duration;
import java.util.Optional;

/**
 * A job as a policy sees it in one round.
 *
 * @param spec what was asked for
 * @param allocation what it has now
 * @param model its goodput as fitted from its own reports; empty before the first useful report
 * @param maxProfiledReplicas most replicas it was ever measured with; 0 before the first report
 * @param progress how far it is; empty before the first report
 * @param age time since submission
 * @param attainedService GPU-seconds it has held
 * @param restarts times it went from one allocation to another with a pause
 * @param rescaleCost measured or assumed pause of a change
 * @param pinned its allocation must stay as it is (it is starting, or a person said so)
 * @param restarting it is in the pause of a change
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
    boolean pinned,
    boolean restarting,
    Optional<Foresight> foresight) {
  /** A job whose future nobody knows. */
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
        pinned,
        false,
        Optional.empty());
  }

  public JobId id() {
    return spec.id();
  }
}
