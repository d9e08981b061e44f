package dev.kastor.operator.membership;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.kube.SlotCount;
import dev.kastor.operator.pods.PodPlan;
import dev.kastor.operator.pods.PodView;
import dev.kastor.scheduler.model.Allocation;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A job with two replicas on n1 that is to move to n2, which has four slots. */
@Tag("never-retried")
class MoveRoomTest {
  private static final String SLOT = "kastor.dev/slot";
  private static final Instant BEGUN = Instant.parse("2026-01-01T00:00:00Z");
  private static final Allocation TARGET = Allocation.on("n2", 2);

  private final List<Pod> own = new ArrayList<>();
  private final List<Pod> onN2 = new ArrayList<>();
  private Optional<Node> n2 =
      Optional.of(
          new NodeBuilder()
              .withNewMetadata()
              .withName("n2")
              .endMetadata()
              .withNewStatus()
              .withAllocatable(Map.of(SLOT, new Quantity("4")))
              .endStatus()
              .build());
  private Instant trouble = Instant.EPOCH;

  MoveRoomTest() {
    own.add(pod("team", "job-0", "n1"));
    own.add(pod("team", "job-1", "n1"));
    own.add(pod("team", "job-2", "n2"));
    own.add(pod("team", "job-3", "n2"));
  }

  @Test
  void podsThatOnlyStartWaitForNobody() {
    assertThat(awaited()).isFalse();
    onN2.add(own.get(2));
    onN2.add(own.get(3));
    onN2.add(pod("team", "other-0", "n2"));
    onN2.add(pod("team", "other-1", "n2"));
    assertThat(awaited()).isFalse();
  }

  @Test
  void slotsThatOthersHoldAreAwaited() {
    onN2.add(pod("team", "other-0", "n2"));
    onN2.add(pod("team", "other-1", "n2"));
    assertThat(awaited()).isFalse();
    onN2.add(pod("elsewhere", "job-2", "n2"));
    assertThat(awaited()).isTrue();
    n2 = Optional.empty();
    onN2.clear();
    assertThat(awaited()).as("a node that is gone").isTrue();
  }

  @Test
  void podsThatCannotBeMadeAreAwaitedUnlessNothingCanBe() {
    own.removeLast();
    assertThat(awaited()).isTrue();
    trouble = BEGUN.plusSeconds(1);
    assertThat(awaited()).isFalse();
    trouble = BEGUN.minusSeconds(1);
    assertThat(awaited()).as("the API server answers again").isTrue();
  }

  private boolean awaited() {
    MoveRoom room =
        new MoveRoom(
            new SlotCount(SLOT),
            name -> n2.filter(any -> name.equals("n2")),
            name -> onN2,
            node -> false,
            () -> trouble);
    PodPlan plan = PodPlan.of(TARGET, PodView.of(own), Set.of("job-0", "job-1"), Set.of());
    return room.awaited("team", TARGET, plan, BEGUN);
  }

  private static Pod pod(String namespace, String name, String node) {
    return new PodBuilder()
        .withNewMetadata()
        .withNamespace(namespace)
        .withName(name)
        .addToAnnotations(Labels.NODE, node)
        .withCreationTimestamp("2026-01-01T00:00:00Z")
        .endMetadata()
        .withNewSpec()
        .addNewContainer()
        .withName("main")
        .withNewResources()
        .withLimits(Map.of(SLOT, new Quantity("1")))
        .withRequests(Map.of(SLOT, new Quantity("1")))
        .endResources()
        .endContainer()
        .endSpec()
        .withNewStatus()
        .withPhase("Pending")
        .endStatus()
        .build();
  }
}
