package dev.kastor.operator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.operator.metrics.Metrics;
import dev.kastor.scheduler.model.Allocation;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Counts of changes of allocations. */
final class AllocationMetricsTest {
  @Tag("slow")
  @Test
  void movesAreChangesOfNodesAlone() {
    Metrics metrics = new Metrics();
    metrics.reallocated(Allocation.NONE, Allocation.on("n0", 2));
    metrics.reallocated(Allocation.on("n0", 2), Allocation.on("n1", 2));
    metrics.reallocated(Allocation.on("n1", 2), Allocation.on("n1", 1));
    metrics.reallocated(Allocation.on("n1", 1), Allocation.NONE);
    assertThat(metrics.registry().getSampleValue("kastor_allocation_changes_total")).isEqualTo(4);
    assertThat(metrics.registry().getSampleValue("kastor_allocation_moves_total")).isEqualTo(1);
  }
}
