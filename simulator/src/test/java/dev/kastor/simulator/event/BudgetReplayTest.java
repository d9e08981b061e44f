package dev.kastor.simulator.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Budget;
import dev.kastor.scheduler.model.Budget.Period;
import dev.kastor.scheduler.model.Budget.WhenSpent;
import dev.kastor.scheduler.model.BudgetUse;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.Queue;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.policy.PolicyContext;
import dev.kastor.scheduler.policy.PolicyFactory;
import dev.kastor.scheduler.policy.registry.Policies;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.simulator.replay.Replay;
import dev.kastor.simulator.replay.ReplayListener;
import dev.kastor.traces.Application;
import dev.kastor.traces.Workload;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Budgets of queues in replays. */
final class BudgetReplayTest {
  private static final Map<String, Application> APPLICATIONS =
      Map.of("linear", PlainApplication.linear(10_000));

  /** GPUs of {@code 2x4}. */
  private static final int GPUS = 8;

  private final Map<JobId, Held> held = new HashMap<>();

  /** GPU-seconds by day. */
  private final Map<LocalDate, Double> used = new TreeMap<>();

  private record Held(int slots, Instant since) {}

  @Tag("slow")
  @ParameterizedTest
  @ValueSource(strings = {"kastor", "pollux", "fifo"})
  void noDayHoldsMoreThanItsBudget(String policy) {
    Replay replay =
        replay(policy, queue("night", new Budget(2, Period.DAY, WhenSpent.STOP)), jobs("night"));

    double late = GPUS * VirtualClock.seconds(EventSettings.defaults().decisionInterval());
    assertThat(used.values()).allSatisfy(day -> assertThat(day).isBetween(1.0, 2 * 3600 + late));
    assertThat(used.values().stream().mapToDouble(day -> day).max().orElseThrow())
        .as("the first day spends all of it")
        .isGreaterThanOrEqualTo(2 * 3600);
    assertThat(used.size()).as("days of forty thousand GPU-seconds").isGreaterThan(4);
    assertThat(replay.jobs()).hasSize(4).allMatch(job -> job.finishSeconds() > 0);
  }

  @Tag("slow")
  @Test
  void jobsOfASpentBudgetComeAfterAllOthersUntilTheNextPeriod() {
    List<Workload.Job> all = new ArrayList<>(jobs("night"));
    all.addAll(jobs("day"));
    List<Snapshot> seen = new ArrayList<>();
    replay(
        Policies.factory("kastor", PolicyContext.online(1)).map(Watched.first(seen)),
        queue("night", new Budget(1, Period.DAY, WhenSpent.LOWER_PRIORITY)),
        all);

    assertThat(priorities(seen, "night")).containsExactlyInAnyOrder(3, BudgetUse.LAST);
    assertThat(priorities(seen, "day")).containsExactly(3);
  }

  @Tag("slow")
  @Test
  void aBudgetThatIsNeverSpentChangesNothing() {
    Replay with =
        replay(
            "kastor", queue("night", new Budget(1e6, Period.MONTH, WhenSpent.STOP)), jobs("night"));
    assertThat(with.jobs()).isEqualTo(replay("kastor", new Queue("night"), jobs("night")).jobs());
  }

  @Test
  void weeksBeginOnMonday() {
    Queue queue = queue("night", new Budget(1, Period.WEEK, WhenSpent.STOP));
    Map<String, Queue> queues = Map.of("night", queue);
    BudgetAccount account = new BudgetAccount(queues);
    account.holds("night", 2, 100);
    assertThat(account.next(100)).isEqualTo(1900);
    assertThat(stopReason(account, queues, 1899)).isEmpty();
    assertThat(stopReason(account, queues, 1900).orElseThrow().message())
        .startsWith("Queue night has spent its budget of 1 GPU-hours a week.");
    account.holds("night", -2, 1901);
    double monday = VirtualClock.seconds(Duration.ofDays(4));
    assertThat(account.next(1901)).as("1970 began on a Thursday").isEqualTo(monday);
    assertThat(stopReason(account, queues, monday - 1)).isPresent();
    assertThat(stopReason(account, queues, monday)).isEmpty();
    assertThat(account.next(monday)).isInfinite();
  }

  private static Optional<Reason> stopReason(
      BudgetAccount account, Map<String, Queue> queues, double now) {
    return Objects.requireNonNull(account.queues(queues, now).get("night")).stopReason();
  }

  private static List<Integer> priorities(List<Snapshot> seen, String queue) {
    return seen.stream()
        .flatMap(snapshot -> snapshot.jobs().stream())
        .filter(job -> job.spec().queue().equals(queue))
        .map(job -> job.spec().priority())
        .distinct()
        .toList();
  }

  private static Queue queue(String name, Budget budget) {
    return new Queue(name).withBudget(budget);
  }

  private static List<Workload.Job> jobs(String queue) {
    List<Workload.Job> jobs = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      jobs.add(
          new Workload.Job(
                  "%s-%d".formatted(queue, i),
                  40 * i,
                  "linear",
                  1,
                  4,
                  2,
                  0,
                  Workload.Category.ADAPTIVE)
              .queued(queue, 3));
    }
    return jobs;
  }

  private Replay replay(String policy, Queue queue, List<Workload.Job> jobs) {
    return replay(Policies.factory(policy, PolicyContext.online(1)), queue, jobs);
  }

  private Replay replay(PolicyFactory policy, Queue queue, List<Workload.Job> jobs) {
    return new EventSimulation(
            EventSettings.defaults().withQueues(Map.of(queue.name(), queue)),
            ClusterShape.parse("2x4"),
            new Workload("four", jobs),
            APPLICATIONS,
            policy,
            1,
            new Meter())
        .run();
  }

  /** The other account of what was held. */
  private final class Meter implements ReplayListener {
    @Override
    public void at(double seconds, int done, int all) {}

    @Override
    public void allocated(JobId job, Allocation allocation, Instant at) {
      Held before = held.put(job, new Held(allocation.slots(), at));
      Instant from = before == null ? at : before.since();
      while (before != null && from.isBefore(at)) {
        LocalDate day = LocalDate.ofInstant(from, ZoneOffset.UTC);
        Instant midnight = day.plusDays(1).atStartOfDay(ZoneOffset.UTC).toInstant();
        Instant to = midnight.isBefore(at) ? midnight : at;
        double seconds = before.slots() * VirtualClock.seconds(Duration.between(from, to));
        if (seconds > 0) {
          used.merge(day, seconds, Double::sum);
        }
        from = to;
      }
    }
  }
}
