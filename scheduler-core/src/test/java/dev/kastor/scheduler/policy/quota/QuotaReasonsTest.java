package dev.kastor.scheduler.policy.quota;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.scheduler.model.Queue;
import dev.kastor.scheduler.model.Quota;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.StopPolicy;
import dev.kastor.scheduler.plan.QuotaAccount;
import dev.kastor.scheduler.plan.Quotas;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedMap;
import org.junit.jupiter.api.Test;

/** Sentences and numbers that users read where a quota decided. */
final class QuotaReasonsTest {
  private static final SequencedMap<String, Double> NONE = new LinkedHashMap<>();

  /** Queue a with so many slots taken; b of the same cohort holds nothing of its four. */
  private static QuotaAccount account(String cohort, Quota quota, int used) {
    Quotas quotas =
        Quotas.of(
            Map.of(
                "a", new Queue("a", 1, cohort, Optional.of(quota), StopPolicy.NONE),
                "b", new Queue("b", 1, cohort, Optional.of(new Quota(4)), StopPolicy.NONE)));
    QuotaAccount account = Objects.requireNonNull(quotas.account("a"));
    account.take(used);
    return account;
  }

  @Test
  void aQueueOfNoCohortIsToldOfItsOwnQuotaAlone() {
    QuotaAccount alone = account("", new Quota(4), 3);
    Reason waits = QuotaReasons.waits(alone, 2, NONE);
    assertThat(waits.code()).isEqualTo("WaitingForQuota");
    assertThat(waits.message()).isEqualTo("It needs 2 GPUs, and queue a holds 3 of its 4 GPUs.");
    assertThat(waits.numbers())
        .isEqualTo(
            Map.of("queueUsed", 3.0, "queueNominal", 4.0, "queueCeiling", 4.0, "leastSlots", 2.0));
    assertThat(QuotaReasons.waits(alone, 1, NONE).message()).startsWith("It needs 1 GPU, and ");
  }

  @Test
  void aQueueOfACohortIsToldOfTheCohortToo() {
    QuotaAccount borrows = account("c", new Quota(4), 6);
    Reason waits = QuotaReasons.waits(borrows, 3, new LinkedHashMap<>(Map.of("bidPerSlot", 7.0)));
    assertThat(waits.message())
        .isEqualTo("It needs 3 GPUs, and queue a holds 6 of its 4 GPUs and cohort c 6 of 8.");
    assertThat(waits.numbers())
        .isEqualTo(
            Map.of(
                "bidPerSlot", 7.0,
                "queueUsed", 6.0,
                "queueNominal", 4.0,
                "queueCeiling", 8.0,
                "cohortUsed", 6.0,
                "cohortNominal", 8.0,
                "leastSlots", 3.0));
  }

  @Test
  void whoMayBorrowNoMoreIsToldSo() {
    QuotaAccount full = account("c", new Quota(4, 2, Quota.UNLIMITED), 6);
    assertThat(QuotaReasons.atQuota(full, NONE).code()).isEqualTo("AtQuota");
    assertThat(QuotaReasons.atQuota(full, NONE).message())
        .isEqualTo("It would grow, but queue a holds 6 of its 4 GPUs and may borrow no more.");
    // At its limit, which is its quota: nothing is borrowed.
    QuotaAccount own = account("c", new Quota(4, 0, Quota.UNLIMITED), 4);
    assertThat(QuotaReasons.atQuota(own, NONE).message())
        .isEqualTo("It would grow, but queue a holds 4 of its 4 GPUs and cohort c 4 of 8.");
  }

  @Test
  void whoLosesGpusIsToldToWhom() {
    Reason back = QuotaReasons.reclaimed(account("c", new Quota(4), 6), NONE);
    assertThat(back.code()).isEqualTo("Reclaimed");
    assertThat(back.message())
        .isEqualTo(
            "Its queue borrowed GPUs that cohort c takes back: now queue a holds 6 of its 4 GPUs"
                + " and cohort c 6 of 8.");
    assertThat(back.numbers()).containsEntry("cohortUsed", 6.0);
    assertThat(QuotaReasons.reclaimed(account("", new Quota(4), 3), NONE).message())
        .isEqualTo("Its queue held more than it may: now queue a holds 3 of its 4 GPUs.");
    assertThat(QuotaReasons.reclaimed(account("c", new Quota(4, 1, 4), 5), NONE).message())
        .startsWith("Its queue held more than it may: ");
  }

  @Test
  void whatNoQueueMayEverHoldIsToldWithTheRemedy() {
    Reason never = QuotaReasons.exceeds(account("c", new Quota(4, 2, 4), 0), 7);
    assertThat(never.code()).isEqualTo("ExceedsQuota");
    assertThat(never.message())
        .isEqualTo(
            "Its least size is 7 GPUs, but queue a may never hold more than 6. Lower"
                + " elastic.minReplicas of the job, or raise quota.gpus or quota.borrowingLimit of"
                + " the queue.");
    assertThat(never.numbers()).containsEntry("leastSlots", 7.0).containsEntry("queueCeiling", 6.0);
  }

  @Test
  void aStoppedQueueSaysWhyItIsStopped() {
    Queue queue = new Queue("a", 1);
    assertThat(QuotaReasons.held(queue).code()).isEqualTo("QueueHeld");
    assertThat(QuotaReasons.held(queue).message())
        .isEqualTo("Queue a lets no job start. Set its stopPolicy to None to go on.");
    assertThat(QuotaReasons.drained(queue).code()).isEqualTo("QueueDrained");
    assertThat(QuotaReasons.drained(queue).message())
        .isEqualTo("Queue a lets no job run. Set its stopPolicy to None to go on.");
    Reason budget = Reason.of("BudgetSpent", "Its budget is spent.");
    assertThat(QuotaReasons.drained(queue.stopped(budget, Instant.EPOCH))).isEqualTo(budget);
  }
}
