package dev.kastor.scheduler.plan;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.ReasonNumber;
import dev.kastor.scheduler.model.Snapshot;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.SequencedMap;

/**
 * When a job is likely to start and to finish, if what a plan decided stays as it is and nobody
 * else comes.
 *
 * <p>Who runs is done after the time left that its reason tells. Who waits starts, in the order of
 * what each bids per slot, when slots enough for its least size are free, on whatever nodes they
 * are. A policy whose reasons tell no such numbers leads to no expectations.
 *
 * @param start when it starts; absent for who runs and where nothing is known
 * @param finish when it is done at the earliest; absent where nothing is known
 * @param ahead jobs that wait and bid more
 */
public record Forecast(Optional<Instant> start, Optional<Instant> finish, int ahead) {
  /** More than this is no forecast. */
  private static final Duration HORIZON = Duration.ofDays(365);

  private record Ending(double second, int slots) {}

  /** What is to be expected of each job of a snapshot. */
  public static SequencedMap<JobId, Forecast> of(Snapshot snapshot, Plan plan) {
    SequencedMap<JobId, Forecast> forecasts = new LinkedHashMap<>();
    PriorityQueue<Ending> endings = new PriorityQueue<>(Comparator.comparingDouble(Ending::second));
    int free = snapshot.nodes().stream().mapToInt(Node::slots).sum();
    List<JobState> waiting = new ArrayList<>();
    for (JobState job : snapshot.jobs()) {
      Allocation given = plan.allocation(job.id());
      if (given.isEmpty()) {
        waiting.add(job);
        continue;
      }
      free -= given.slots();
      ReasonNumber.REMAINING_SECONDS
          .of(plan.reason(job.id()))
          .ifPresent(seconds -> endings.add(new Ending(seconds, given.slots())));
      forecasts.put(job.id(), running(snapshot, plan, job.id()));
    }
    waiting.sort(
        Comparator.comparingDouble(
            (JobState job) -> -ReasonNumber.BID_PER_SLOT.of(plan.reason(job.id())).orElse(-1.0)));
    double now = 0;
    for (int ahead = 0; ahead < waiting.size(); ahead++) {
      JobState job = waiting.get(ahead);
      Optional<Double> least = ReasonNumber.LEAST_SLOTS.of(plan.reason(job.id()));
      Optional<Double> left = ReasonNumber.REMAINING_SECONDS.of(plan.reason(job.id()));
      if (least.isEmpty() || left.isEmpty()) {
        forecasts.put(job.id(), new Forecast(Optional.empty(), Optional.empty(), ahead));
        continue;
      }
      int slots = least.get().intValue();
      // Slots that are free although it waits are kept from it by something that no end changes.
      boolean barred = now == 0 && free >= slots;
      while (free < slots && !endings.isEmpty()) {
        Ending ending = endings.remove();
        now = Math.max(now, ending.second());
        free += ending.slots();
      }
      if (barred || free < slots) {
        forecasts.put(job.id(), new Forecast(Optional.empty(), Optional.empty(), ahead));
        continue;
      }
      free -= slots;
      endings.add(new Ending(now + left.get(), slots));
      forecasts.put(
          job.id(), new Forecast(after(snapshot, now), after(snapshot, now + left.get()), ahead));
    }
    return forecasts;
  }

  /** What is to be expected of a job that is given slots; the others have no part in that. */
  public static Forecast running(Snapshot snapshot, Plan plan, JobId job) {
    Optional<Double> left = ReasonNumber.REMAINING_SECONDS.of(plan.reason(job));
    return new Forecast(Optional.empty(), left.flatMap(seconds -> after(snapshot, seconds)), 0);
  }

  private static Optional<Instant> after(Snapshot snapshot, double seconds) {
    return seconds >= 0 && seconds < HORIZON.toSeconds()
        ? Optional.of(snapshot.now().plusMillis(Math.round(seconds * 1000)))
        : Optional.empty();
  }
}
