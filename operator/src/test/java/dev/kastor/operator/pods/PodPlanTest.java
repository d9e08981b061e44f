package dev.kastor.operator.pods;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.scheduler.model.Allocation;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class PodPlanTest {
  private static final Allocation TWO_AND_ONE =
      new Allocation(new TreeMap<>(Map.of("n1", 2, "n2", 1)));

  @Test
  void asksForWhatIsMissingOnEachNode() {
    PodPlan plan = plan(TWO_AND_ONE, Set.of(), Set.of(), live("a", 0, "n1"));
    assertThat(plan.wanted()).extracting(PodView::name).containsExactly("a");
    assertThat(plan.missing()).isEqualTo(Map.of("n1", 1, "n2", 1));
    assertThat(PodPlan.first(1, plan.missing())).isEqualTo(Map.of("n1", 1));
    assertThat(PodPlan.first(2, plan.missing())).isEqualTo(plan.missing());
    assertThat(PodPlan.first(0, plan.missing())).isEmpty();
    assertThat(plan.surplus()).isEmpty();
  }

  @Test
  void membersStayBeforeOlderPodsThatDoNotTrain() {
    PodPlan plan =
        plan(Allocation.on("n1", 1), Set.of("b"), Set.of(), live("a", 0, "n1"), live("b", 1, "n1"));
    assertThat(plan.wanted()).extracting(PodView::name).containsExactly("b");
    assertThat(plan.surplus()).extracting(PodView::name).containsExactly("a");
  }

  @Test
  void podsOnOtherNodesAreSurplus() {
    PodPlan plan = plan(Allocation.on("n2", 1), Set.of("a"), Set.of(), live("a", 0, "n1"));
    assertThat(plan.surplus()).extracting(PodView::name).containsExactly("a");
    assertThat(plan.missing()).isEqualTo(Map.of("n2", 1));
  }

  @Test
  void whoWasToldToGoIsReplaced() {
    PodPlan plan = plan(Allocation.on("n1", 1), Set.of("a"), Set.of("a"), live("a", 0, "n1"));
    assertThat(plan.surplus()).extracting(PodView::name).containsExactly("a");
    assertThat(plan.missing()).isEqualTo(Map.of("n1", 1));
  }

  @Test
  void endedAndDeletedPodsDoNotCount() {
    PodPlan plan =
        plan(
            Allocation.on("n1", 2),
            Set.of(),
            Set.of(),
            pod("a", 0, PodView.State.FAILED, false),
            pod("b", 1, PodView.State.SUCCEEDED, false),
            pod("c", 2, PodView.State.RUNNING, true));
    assertThat(plan.missing()).isEqualTo(Map.of("n1", 2));
    assertThat(plan.surplus()).isEmpty();
  }

  private static PodPlan plan(
      Allocation allocation, Set<String> members, Set<String> dismissed, PodView... pods) {
    return PodPlan.of(allocation, List.of(pods), members, dismissed);
  }

  private static PodView live(String name, long number, String node) {
    return new PodView(
        name,
        number,
        node,
        PodView.State.RUNNING,
        false,
        Instant.EPOCH,
        Instant.EPOCH,
        0,
        Optional.empty());
  }

  private static PodView pod(String name, long number, PodView.State state, boolean deleting) {
    return new PodView(
        name, number, "n1", state, deleting, Instant.EPOCH, Instant.EPOCH, 0, Optional.empty());
  }
}
