package dev.kastor.operator.cluster;

import dev.kastor.scheduler.Forecast;
import dev.kastor.scheduler.JobId;
import dev.kastor.scheduler.JobState;
import dev.kastor.scheduler.Reason;
import dev.kastor.scheduler.Round;
import jakarta.inject.Singleton;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What the newest round decided on each job and why, those included for which nothing changed; kept
 * in memory alone. Written by the loop's thread, read by any.
 */
@Singleton
public final class Decisions {
  /**
   * What was decided on one job.
   *
   * @param at when
   * @param replicas what it is to have
   * @param reason why, with the numbers that decided it
   * @param forecast when it starts and finishes if all stays as it is
   */
  public record Decision(Instant at, int replicas, Reason reason, Forecast forecast) {}

  private volatile Map<JobId, Decision> newest = Map.of();

  /**
   * Looks at a round; one whose plan was refused decided nothing.
   *
   * @return jobs that wait for another reason than before
   */
  public List<JobId> decided(Round round) {
    if (!round.violations().isEmpty()) {
      return List.of();
    }
    List<JobId> anew = new ArrayList<>();
    Map<JobId, Forecast> forecasts = Forecast.of(round.snapshot(), round.plan());
    Map<JobId, Decision> decisions = HashMap.newHashMap(forecasts.size());
    for (JobState job : round.snapshot().jobs()) {
      decisions.put(
          job.id(),
          new Decision(
              round.snapshot().now(),
              round.plan().allocation(job.id()).replicas(),
              round.plan().reason(job.id()),
              forecasts.getOrDefault(
                  job.id(), new Forecast(Optional.empty(), Optional.empty(), 0))));
      Decision before = newest.get(job.id());
      String reason = round.plan().reason(job.id()).code();
      if (round.plan().allocation(job.id()).isEmpty()
          && (before == null || !before.reason().code().equals(reason))) {
        anew.add(job.id());
      }
    }
    newest = decisions;
    return anew;
  }

  /** The newest decision on a job; empty before the first round that saw it, and once it ended. */
  public Optional<Decision> of(JobId job) {
    return Optional.ofNullable(newest.get(job));
  }
}
