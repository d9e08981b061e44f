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
import org.jspecify.annotations.Nullable;

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

  /** One round; what it decided on each job is worked out when somebody asks first. */
  private static final class Decided {
    private final Round round;
    private @Nullable Map<JobId, Decision> decisions;

    Decided(Round round) {
      this.round = round;
    }

    synchronized Map<JobId, Decision> decisions() {
      if (decisions == null) {
        decisions = Decisions.of(round);
      }
      return decisions;
    }
  }

  private volatile @Nullable Decided newest;
  private Map<JobId, String> waiting = Map.of();

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
    Map<JobId, String> reasons = new HashMap<>();
    for (JobState job : round.snapshot().jobs()) {
      if (round.plan().allocation(job.id()).isEmpty()) {
        String reason = round.plan().reason(job.id()).code();
        reasons.put(job.id(), reason);
        if (!reason.equals(waiting.get(job.id()))) {
          anew.add(job.id());
        }
      }
    }
    waiting = reasons;
    newest = new Decided(round);
    return anew;
  }

  /** The newest decision on a job; empty before the first round that saw it, and once it ended. */
  public Optional<Decision> of(JobId job) {
    Decided last = newest;
    return last == null ? Optional.empty() : Optional.ofNullable(last.decisions().get(job));
  }

  private static Map<JobId, Decision> of(Round round) {
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
    }
    return decisions;
  }
}
