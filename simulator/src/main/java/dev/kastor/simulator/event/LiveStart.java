package dev.kastor.simulator.event;

import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.live.LiveJob;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.AllocationHistory;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.traces.Application;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * Live job from which a replay goes on.
 *
 * @param job what its operator knows
 * @param model its goodput, which the replay takes for the truth, on all GPU types that there are
 * @param truth all that the replay takes for the truth, made of {@code model}
 * @param rescalePause pause of a live change
 * @param tellsTotal whether its reports say how much work it has
 */
public record LiveStart(
    LiveJob job, GoodputModel model, Application truth, Duration rescalePause, boolean tellsTotal) {
  /** The least that is left of a pause that is under way: it is over once a report says so. */
  private static final Duration LEAST_PAUSE = Duration.ofSeconds(1);

  /** Allocations up to the one that it has, as far as they show in what a policy is told. */
  AllocationHistory history(Instant now) {
    JobState state = job.state();
    Allocation held = state.allocation();
    if (held.isEmpty() && state.sinceChange().isZero() && state.attainedService() == 0) {
      return AllocationHistory.NONE;
    }
    double present = state.sinceChange().toNanos() * 1e-9 * held.slots();
    return new AllocationHistory(
        held,
        Optional.of(now.minus(state.sinceChange())),
        held.isEmpty() ? Optional.empty() : Optional.of(now.minus(state.unsaved())),
        state.restarts() + 1,
        Math.max(0, state.attainedService() - present));
  }

  /** What is left of the pause of a job that is about to train. */
  Duration pauseLeft() {
    Duration left = job.state().restartCost().minus(job.state().sinceChange());
    return left.compareTo(LEAST_PAUSE) > 0 ? left : LEAST_PAUSE;
  }
}
