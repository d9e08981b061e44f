package dev.kastor.scheduler.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.scheduler.model.Queue;
import dev.kastor.scheduler.model.Quota;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.model.StopPolicy;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("never-retried")
final class QuotaAccountTest {
  private static Queue queue(String name, String cohort, Quota quota) {
    return new Queue(name, 1, cohort, Optional.of(quota), StopPolicy.NONE);
  }

  private static Quotas quotas(Queue... queues) {
    Map<String, Queue> byName = new HashMap<>();
    for (Queue queue : queues) {
      byName.put(queue.name(), queue);
    }
    return Quotas.of(new Snapshot(Instant.EPOCH, List.of(), List.of(), byName));
  }

  private static QuotaAccount account(Quotas quotas, String name) {
    return Objects.requireNonNull(quotas.account(name));
  }

  @Test
  void aQueueOfNoCohortHoldsItsQuotaAndNoMore() {
    QuotaAccount alone = account(quotas(queue("a", "", new Quota(4))), "a");
    assertThat(alone.room()).isEqualTo(4);
    alone.take(5);
    assertThat(alone.room()).isEqualTo(-1);
    assertThat(alone.ceiling()).isEqualTo(4);
  }

  @Test
  void queuesOfACohortUseWhatTheOthersLeave() {
    Quotas quotas = quotas(queue("a", "c", new Quota(4)), queue("b", "c", new Quota(6)));
    QuotaAccount a = account(quotas, "a");
    QuotaAccount b = account(quotas, "b");
    assertThat(a.room()).isEqualTo(10);
    b.take(3);
    assertThat(a.room()).isEqualTo(7);
    a.take(7);
    assertThat(a.borrowed()).isEqualTo(3);
    assertThat(b.room()).isZero();
  }

  @Test
  void limitsOfBorrowingAndLendingHold() {
    Quotas quotas =
        quotas(
            queue("a", "c", new Quota(4, 2, Quota.UNLIMITED)),
            queue("b", "c", new Quota(6, Quota.UNLIMITED, 1)));
    QuotaAccount a = account(quotas, "a");
    QuotaAccount b = account(quotas, "b");
    assertThat(a.room()).as("its own four and the one that b lends").isEqualTo(5);
    assertThat(b.room()).as("its own six and all that a has").isEqualTo(10);
    b.take(10);
    assertThat(a.room()).as("what b drew").isZero();
    b.take(-4);
    a.take(5);
    assertThat(b.room()).as("b has what it keeps, a the one that it lends").isEqualTo(-1);
    assertThat(account(quotas(queue("x", "c", new Quota(4, 2, 0))), "x").ceiling()).isEqualTo(4);
  }

  @Test
  void aClaimTakesFromBorrowersWhatItNeeds() {
    Quotas quotas = quotas(queue("a", "c", new Quota(4)), queue("b", "c", new Quota(4)));
    QuotaAccount a = account(quotas, "a");
    QuotaAccount b = account(quotas, "b");
    a.take(8);
    assertThat(a.room()).isZero();
    b.claim(3);
    assertThat(a.room()).isEqualTo(-3);
    a.take(-3);
    assertThat(a.room()).isZero();
    assertThat(b.room()).isEqualTo(3);
    b.take(3);
    assertThat(b.room()).isZero();
    quotas.dropClaims();
    assertThat(a.room()).isZero();
  }

  @Test
  void aClaimIsAtMostTheQuota() {
    Quotas quotas = quotas(queue("a", "c", new Quota(4)), queue("b", "c", new Quota(4)));
    QuotaAccount a = account(quotas, "a");
    QuotaAccount b = account(quotas, "b");
    b.claim(7);
    assertThat(b.claimed()).isEqualTo(4);
    assertThat(a.room()).as("its own four, whatever b would like").isEqualTo(4);
    b.claim(-1);
    assertThat(b.claimed()).isZero();
    assertThat(a.room()).isEqualTo(8);
  }

  @Test
  void claimsThatAreDroppedAreFreeAgain() {
    Quotas quotas = quotas(queue("a", "c", new Quota(4)), queue("b", "c", new Quota(4)));
    account(quotas, "b").claim(3);
    assertThat(account(quotas, "a").room()).isEqualTo(5);
    quotas.dropClaims();
    assertThat(account(quotas, "a").room()).isEqualTo(8);
  }

  @Test
  void whatAQueueKeepsItDoesNotDrawOnItsCohort() {
    Quotas quotas =
        quotas(queue("a", "c", new Quota(4)), queue("b", "c", new Quota(6, Quota.UNLIMITED, 1)));
    QuotaAccount b = account(quotas, "b");
    assertThat(b.draws(5)).isZero();
    assertThat(b.draws(8)).isEqualTo(3);
    assertThat(b.lentByCohort()).as("all of a, and the one that b lends").isEqualTo(5);
  }

  @Test
  void aCohortNeedsQuotas() {
    assertThatThrownBy(() -> new Queue("a", 1, "c", Optional.empty(), StopPolicy.NONE))
        .hasMessageContaining("queue 'a' is of cohort 'c' but has no quota");
    assertThatThrownBy(() -> new Quota(-1)).hasMessageContaining("gpus (-1)");
  }
}
