package dev.kastor.operator.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.queue.Queue;
import dev.kastor.crds.trainingjob.GoodputSpec.Mode;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import dev.kastor.operator.TestJobs;
import dev.kastor.operator.allocation.AllocationWriter;
import dev.kastor.operator.mapping.JobMapper;
import dev.kastor.operator.mapping.JobReading;
import dev.kastor.operator.usage.QueueDay;
import dev.kastor.operator.usage.Usage;
import dev.kastor.scheduler.goodput.Measured;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.BudgetUse;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Plan;
import dev.kastor.scheduler.plan.Policy;
import dev.kastor.scheduler.policy.PolicyContext;
import dev.kastor.scheduler.policy.registry.Policies;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Budgets over rounds of a clock that is played. */
// As in the operator's other tests.
@NullUnmarked
@Tag("never-retried")
class QueueBudgetsTest {
  private static final Instant BEGIN = Instant.parse("2026-03-04T22:00:00Z");
  private static final Duration ROUND = Duration.ofSeconds(30);
  private static final int GPUS = 4;

  private final Map<QueueDay, Usage> used = new HashMap<>();
  private Instant now = BEGIN;
  private final QueueBudgets budgets = new QueueBudgets(at -> Map.copyOf(used), () -> now);
  private Reason reason;

  static List<String> policies() {
    return Policies.names();
  }

  @Tag("slow")
  @ParameterizedTest
  @MethodSource("policies")
  void twoGpuHoursAreKeptWithinOneRound(String name) {
    Policy policy = Policies.create(name, PolicyContext.online(1));
    TrainingJob job = TestJobs.job("bert", GPUS, GPUS, Mode.Fixed);
    List<Queue> queues = List.of(queue("red", "{gpuHours: 2, period: Day, onExceeded: Stop}"));
    AllocationStatus allocation = null;
    Instant midnight = Instant.parse("2026-03-05T00:00:00Z");
    boolean stopped = false;
    while (now.isBefore(midnight.plus(Duration.ofHours(1)))) {
      allocation = round(policy, job, queues, allocation);
      if (allocation.replicas() == 0) {
        stopped = true;
        assertThat(reason.code()).isEqualTo("BudgetSpent");
        assertThat(reason.message())
            .isEqualTo(
                "Queue red has spent its budget of 2 GPU-hours a day. Its jobs go on from their checkpoints at %s, or once spec.budget.gpuHours is higher."
                    .formatted(
                        now.isBefore(midnight) ? midnight : midnight.plus(Duration.ofDays(1))));
      }
      hold(allocation);
    }
    assertThat(stopped).isTrue();
    long budget = Duration.ofHours(2).toMillis();
    for (String day : List.of("2026-03-04", "2026-03-05")) {
      assertThat(used.get(new QueueDay(LocalDate.parse(day), "red")).held())
          .as(day)
          .isBetween(budget, budget + GPUS * ROUND.toMillis());
    }
  }

  @Tag("slow")
  @Test
  void jobsOfAQueueWhoseBudgetIsSpentComeAfterAllOthers() {
    List<Queue> queues =
        List.of(
            queue("red", "{gpuHours: 1, period: Week, onExceeded: LowerPriority}"),
            queue("blue", null));
    TrainingJob red = TestJobs.job("red", GPUS, GPUS, Mode.Fixed);
    TrainingJob blue = TestJobs.job("blue", GPUS, GPUS, Mode.Fixed);
    QueueDirectory before = directory(queues);
    assertThat(before.priority(red, "red")).isZero();
    use("2026-03-01", 10);
    assertThat(later(queues).priority(red, "red")).as("of the week before").isZero();
    use("2026-03-02", 1);
    QueueDirectory directory = later(queues);
    assertThat(directory.priority(red, "red")).isLessThan(-1000);
    assertThat(directory.queues().get("red").stopReason()).isEmpty();
    Snapshot snapshot =
        new Snapshot(
            now,
            List.of(new Node("n1", "", GPUS)),
            List.of(state(red, "red", directory, null), state(blue, "blue", directory, null)),
            directory.queues());
    Plan plan = Policies.create("kastor", PolicyContext.online(1)).plan(snapshot);
    assertThat(plan.allocation(new JobId("team", "blue")).slots()).isEqualTo(GPUS);
    assertThat(plan.allocation(new JobId("team", "red")).slots()).isZero();
  }

  @Test
  void aPeriodBeginsWithItsFirstDayOfUtc() {
    use("2026-02-28", 1);
    use("2026-03-01", 2);
    use("2026-03-02", 4);
    use("2026-03-04", 8);
    assertThat(budget("Day").usedHours()).isEqualTo(8);
    assertThat(budget("Week").usedHours()).as("from Monday").isEqualTo(12);
    assertThat(budget("Month").usedHours()).isEqualTo(14);
    assertThat(budget("Day").until()).isEqualTo(Instant.parse("2026-03-05T00:00:00Z"));
    assertThat(budget("Week").until()).isEqualTo(Instant.parse("2026-03-09T00:00:00Z"));
    assertThat(budget("Month").until()).isEqualTo(Instant.parse("2026-04-01T00:00:00Z"));
    assertThat(budget("Day").usedPercent()).isEqualTo(80);
  }

  @Test
  void whatWasUsedOfAPeriodIsNotForgotten() {
    List<Queue> queues = List.of(queue("red", "{gpuHours: 10, period: Day}"));
    use("2026-03-04", 10);
    assertThat(later(queues).budgets().get("red").spent()).isTrue();
    used.clear();
    assertThat(later(queues).budgets().get("red").spent())
        .as("while a job goes it is counted nowhere for a moment")
        .isTrue();
    now = now.plus(Duration.ofDays(1));
    assertThat(later(queues).budgets().get("red").spent()).isFalse();
  }

  private AllocationStatus round(
      Policy policy, TrainingJob job, List<Queue> queues, AllocationStatus before) {
    QueueDirectory directory = directory(queues);
    JobState state = state(job, "red", directory, before);
    Plan plan =
        policy.plan(
            new Snapshot(
                now, List.of(new Node("n1", "", GPUS)), List.of(state), directory.queues()));
    Allocation given = plan.allocation(state.id());
    reason = plan.reason(state.id());
    return given.equals(JobMapper.allocation(before)) && before != null
        ? before
        : AllocationWriter.status(
            before, given, null, before == null ? 1 : before.version() + 1, now, reason, "red");
  }

  private JobState state(
      TrainingJob job, String queue, QueueDirectory directory, AllocationStatus allocation) {
    return JobMapper.state(
        JobReading.of(job, allocation),
        queue,
        directory.priority(job, queue),
        Integer.MAX_VALUE,
        Optional.empty(),
        Measured.NOTHING,
        true,
        false,
        now);
  }

  /** What it was given it holds until the next round. */
  private void hold(AllocationStatus allocation) {
    long millis = ROUND.toMillis() * allocation.slots();
    used.merge(
        new QueueDay(LocalDate.ofInstant(now, ZoneOffset.UTC), "red"),
        new Usage(millis, 0, 0, 0, 0, 0),
        Usage::plus);
    now = now.plus(ROUND);
  }

  private void use(String day, int hours) {
    used.merge(
        new QueueDay(LocalDate.parse(day), "red"),
        new Usage(Duration.ofHours(hours).toMillis(), 0, 0, 0, 0, 0),
        Usage::plus);
  }

  private QueueDirectory later(List<Queue> queues) {
    now = now.plus(Duration.ofSeconds(1));
    return directory(queues);
  }

  private QueueDirectory directory(List<Queue> queues) {
    return QueueDirectory.of(queues, Map.of(), 1000, budgets.of(queues));
  }

  private BudgetUse budget(String period) {
    return new QueueBudgets(at -> used, () -> now)
        .of(List.of(queue("red", "{gpuHours: 10, period: %s}".formatted(period))))
        .get("red");
  }

  private static Queue queue(String name, String budget) {
    return Serialization.unmarshal(
        "apiVersion: kastor.dev/v1alpha1\nkind: Queue\nmetadata: {name: %s}\nspec: {%s}"
            .formatted(name, budget == null ? "" : "budget: " + budget),
        Queue.class);
  }
}
