package dev.kastor.scheduler.plan;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.model.TestJob;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedMap;
import org.junit.jupiter.api.Test;

final class ForecastTest {
  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");
  private static final JobState LONG = TestJob.job("long").on("n0", 3).build();
  private static final JobState SHORT = TestJob.job("short").on("n0", 1).build();
  private static final JobState LOW = TestJob.job("low").build();
  private static final JobState HIGH = TestJob.job("high").build();

  private final SequencedMap<JobId, Plan.Assignment> plan = new LinkedHashMap<>();

  private void runs(JobState job, double seconds) {
    put(job, job.allocation(), Map.of("remainingSeconds", seconds));
  }

  private void waits(JobState job, double bid, int least, double seconds) {
    put(
        job,
        Allocation.NONE,
        Map.of("bidPerSlot", bid, "leastSlots", (double) least, "remainingSeconds", seconds));
  }

  private void put(JobState job, Allocation allocation, Map<String, Double> numbers) {
    plan.put(
        job.id(),
        new Plan.Assignment(allocation, new Reason("R", "m", new LinkedHashMap<>(numbers))));
  }

  private Forecast of(JobState job) {
    Snapshot snapshot =
        new Snapshot(
            NOW, List.of(new Node("n0", "", 4)), List.of(LONG, SHORT, LOW, HIGH), Map.of());
    return Objects.requireNonNull(Forecast.of(snapshot, new Plan(plan)).get(job.id()));
  }

  @Test
  void whoRunsEndsWhenItsWorkIsDone() {
    runs(LONG, 600);
    assertThat(of(LONG).finish()).contains(NOW.plusSeconds(600));
    assertThat(of(LONG).start()).isEmpty();
  }

  @Test
  void theHighestBidTakesTheSlotsThatAreFreeFirst() {
    runs(LONG, 600);
    runs(SHORT, 100);
    waits(LOW, 1, 1, 50);
    waits(HIGH, 2, 1, 1000);
    assertThat(of(HIGH)).isEqualTo(forecast(100, 1100, 0));
    assertThat(of(LOW)).isEqualTo(forecast(600, 650, 1));
  }

  @Test
  void whoNeedsMoreWaitsLonger() {
    runs(LONG, 600);
    runs(SHORT, 100);
    waits(HIGH, 2, 2, 10);
    assertThat(of(HIGH)).isEqualTo(forecast(600, 610, 0));
  }

  @Test
  void nothingIsSaidWhereNothingIsKnown() {
    runs(LONG, 600);
    runs(SHORT, 100);
    waits(HIGH, 2, 5, 10);
    assertThat(of(HIGH).start()).isEmpty();
    assertThat(of(LOW).start()).isEmpty();
    runs(LONG, Double.POSITIVE_INFINITY);
    assertThat(of(LONG).finish()).isEmpty();
  }

  /** Only money or a pause can keep it from free slots: no end of another job changes that. */
  @Test
  void nothingIsSaidOfOneThatWaitsBesideFreeSlots() {
    runs(LONG, 600);
    waits(HIGH, 2, 1, 10);
    assertThat(of(HIGH).start()).isEmpty();
  }

  private static Forecast forecast(int start, int finish, int ahead) {
    return new Forecast(
        Optional.of(NOW.plusSeconds(start)), Optional.of(NOW.plusSeconds(finish)), ahead);
  }
}
