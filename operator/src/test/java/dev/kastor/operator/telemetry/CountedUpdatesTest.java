package dev.kastor.operator.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Progress;
import dev.kastor.protocol.Staleness;
import dev.kastor.protocol.TelemetryReport;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class CountedUpdatesTest {
  private final CountedUpdates updates = new CountedUpdates();

  @Test
  void reportsWithoutServersCountNothing() {
    updates.observe(report("a", null, null));
    assertThat(updates.sum()).isEqualTo(UpdateCounts.NONE);
    assertThat(updates.takeFresh()).isEqualTo(UpdateCounts.NONE);
  }

  @Test
  void countsOfAProcessAreItsSums() {
    updates.observe(report("a", List.of(3L, 1L), 0L));
    assertThat(updates.takeFresh()).isEqualTo(new UpdateCounts(List.of(3L, 1L), 0));
    updates.observe(report("a", List.of(5L, 1L, 2L), 4L));
    assertThat(updates.takeFresh()).isEqualTo(new UpdateCounts(List.of(2L, 0L, 2L), 4));
    assertThat(updates.takeFresh()).isEqualTo(UpdateCounts.NONE);
    assertThat(updates.sum()).isEqualTo(new UpdateCounts(List.of(5L, 1L, 2L), 4));
  }

  @Test
  void anotherProcessBeginsAnew() {
    updates.observe(report("a", List.of(3L, 1L), 2L));
    updates.observe(report("b", List.of(2L), 1L));
    assertThat(updates.sum()).isEqualTo(new UpdateCounts(List.of(5L, 1L), 3));
  }

  @Test
  void countsThatGoBackAddNothing() {
    updates.observe(report("a", List.of(3L, 1L), 2L));
    updates.observe(report("a", List.of(1L, 2L), 0L));
    assertThat(updates.sum()).isEqualTo(new UpdateCounts(List.of(3L, 2L), 2));
  }

  private static TelemetryReport report(
      String pod, @Nullable List<Long> staleness, @Nullable Long droppedCopies) {
    return new TelemetryReport(
        "team",
        "job",
        pod,
        1,
        1,
        1,
        new BatchPlan(8, 0),
        List.of(),
        null,
        new Progress(1, 1, 10, 8, 0),
        null,
        null,
        null,
        List.of(),
        null,
        null,
        null,
        null,
        staleness == null ? null : new Staleness(staleness),
        droppedCopies);
  }
}
