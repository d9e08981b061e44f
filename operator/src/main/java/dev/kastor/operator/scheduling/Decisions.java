package dev.kastor.operator.scheduling;

import dev.kastor.scheduler.loop.Round;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.plan.Forecast;
import dev.kastor.scheduler.plan.Plan;
import jakarta.inject.Singleton;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * What the newest round decided on each job and why, those included for which nothing changed; kept
 * in memory alone. Thread-safe.
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

  /**
   * One round; what it decided on a job is worked out when somebody asks. What is to be expected of
   * those that wait depends on all, so it is worked out for all of them at once.
   */
  private static final class Decided {
    private final Round round;
    private final Set<JobId> waiting;
    private @Nullable Map<JobId, Forecast> forecasts;

    Decided(Round round, Set<JobId> waiting) {
      this.round = round;
      this.waiting = waiting;
    }

    Optional<Decision> of(JobId job) {
      Plan plan = round.plan();
      if (!plan.allocation(job).isEmpty()) {
        return Optional.of(decision(job, Forecast.running(round.snapshot(), plan, job)));
      }
      return waiting.contains(job)
          ? Optional.of(decision(job, Objects.requireNonNull(forecasts().get(job))))
          : Optional.empty();
    }

    private Decision decision(JobId job, Forecast forecast) {
      Plan plan = round.plan();
      int replicas = plan.allocation(job).replicas();
      return new Decision(round.snapshot().now(), replicas, plan.reason(job), forecast);
    }

    private synchronized Map<JobId, Forecast> forecasts() {
      if (forecasts == null) {
        forecasts = Forecast.of(round.snapshot(), round.plan());
      }
      return forecasts;
    }
  }

  private volatile @Nullable Decided newest;

  /** Decisions on newcomers that the newest round over all does not know of. */
  private final Map<JobId, Decided> served = new ConcurrentHashMap<>();

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
    newest = new Decided(round, reasons.keySet());
    Instant then = round.snapshot().now();
    served.values().removeIf(each -> each.round.snapshot().now().isBefore(then));
    return anew;
  }

  /** Looks at a round over newcomers alone, which were all given slots. */
  public void served(Round round) {
    Decided decided = new Decided(round, Set.of());
    round.snapshot().jobs().forEach(job -> served.put(job.id(), decided));
  }

  /** The newest decision on a job; empty before the first round that saw it, and once it ended. */
  public Optional<Decision> of(JobId job) {
    Decided alone = served.get(job);
    Decided last = alone == null ? newest : alone;
    return last == null ? Optional.empty() : last.of(job);
  }
}
