package dev.kastor.operator.usage;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.operator.metrics.Metrics;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;

// As in the operator's other tests.
@NullUnmarked
class UsageCountersTest {
  private static final LocalDate DAY = LocalDate.parse("2026-03-02");

  private final Metrics metrics = new Metrics();
  private final Map<QueueDay, Usage> used = new HashMap<>();
  private Instant now = Instant.parse("2026-03-02T12:00:00Z");
  private final UsageCounters counters =
      new UsageCounters(at -> Map.copyOf(used), metrics.queues(), () -> now);

  @Test
  void whatIsUsedFromTheFirstLookOnIsCountedByUse() {
    use(DAY, "red", new Usage(1_000, 0, 0, 0, 0, 0));
    look();
    assertThat(value("red", "useful")).as("before this operator").isZero();
    use(DAY, "red", new Usage(4_500, 0, 0, 0, 250, 0, new Cost(2_000_000, 4_750)));
    use(DAY, "", new Usage(0, 0, 7_000, 0, 0, 0));
    look();
    assertThat(value("red", "useful")).isEqualTo(3.5);
    assertThat(value("red", "failures")).isEqualTo(0.25);
    assertThat(value("red", "unknown")).isZero();
    assertThat(value("", "starting")).as("jobs of no queue").isEqualTo(7);
    assertThat(cost("red")).isEqualTo(2);
    look();
    assertThat(value("red", "useful")).isEqualTo(3.5);
  }

  @Test
  void aCounterNeverFallsAndCountsNothingTwice() {
    look();
    use(DAY, "red", new Usage(10_000, 0, 0, 0, 0, 0));
    look();
    used.clear();
    look();
    assertThat(value("red", "useful")).as("its job is being archived").isEqualTo(10);
    use(DAY, "red", new Usage(12_000, 0, 0, 0, 0, 0));
    look();
    assertThat(value("red", "useful")).isEqualTo(12);
  }

  @Test
  void aDayThatBeginsIsCountedToo() {
    use(DAY, "red", new Usage(10_000, 0, 0, 0, 0, 0));
    look();
    now = now.plus(Duration.ofDays(1));
    use(DAY, "red", new Usage(11_000, 0, 0, 0, 0, 0));
    use(DAY.plusDays(1), "red", new Usage(2_000, 0, 0, 0, 0, 0));
    look();
    assertThat(value("red", "useful")).isEqualTo(3);
  }

  @Test
  void seriesOfAQueueEndOnceItHasNotBeenUsedForTwoDays() {
    look();
    use(DAY, "red", new Usage(10_000, 0, 0, 0, 0, 0));
    look();
    now = now.plus(Duration.ofDays(1));
    look();
    assertThat(value("red", "useful")).isEqualTo(10);
    now = now.plus(Duration.ofDays(1));
    look();
    assertThat(value("red", "useful")).isNull();
    assertThat(cost("red")).isNull();
  }

  @Test
  void queuesBeyondTheBoundAreCountedTogether() {
    look();
    for (int i = 0; i < UsageCounters.MOST_QUEUES + 50; i++) {
      use(DAY, "q" + i, new Usage(1_000, 0, 0, 0, 0, 0));
    }
    look();
    assertThat(value(UsageCounters.OTHERS, "useful")).isEqualTo(50);
    long series =
        Collections.list(metrics.registry().metricFamilySamples()).stream()
            .filter(family -> family.name.equals("kastor_queue_gpu_seconds"))
            .flatMap(family -> family.samples.stream())
            .filter(sample -> sample.name.endsWith("_total"))
            .count();
    assertThat(series).isEqualTo((UsageCounters.MOST_QUEUES + 1) * 6);
  }

  private void use(LocalDate day, String queue, Usage usage) {
    used.put(new QueueDay(day, queue), usage);
  }

  private void look() {
    counters.countIfDue();
    now = now.plus(UsageCounters.PERIOD);
  }

  private Double value(String queue, String use) {
    return metrics
        .registry()
        .getSampleValue(
            "kastor_queue_gpu_seconds_total",
            new String[] {"queue", "use"},
            new String[] {queue, use});
  }

  private Double cost(String queue) {
    return metrics
        .registry()
        .getSampleValue("kastor_queue_cost_total", new String[] {"queue"}, new String[] {queue});
  }
}
