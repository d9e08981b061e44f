package dev.kastor.operator.nodes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.GoodputSpec;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import dev.kastor.operator.TestJobs;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.mapping.JobReading;
import dev.kastor.operator.pods.PodTemplate;
import dev.kastor.operator.scheduling.RoundNodes;
import dev.kastor.scheduler.model.Allocation;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class NodeUseTest {
  private static final Set<String> TAINTS = Set.of("karpenter.sh/disrupted");

  private static Node node(String name, boolean ready, boolean cordoned, String taint) {
    return new NodeBuilder()
        .withNewMetadata()
        .withName(name)
        .endMetadata()
        .withNewSpec()
        .withUnschedulable(cordoned)
        .addNewTaint()
        .withKey(taint)
        .withEffect("NoSchedule")
        .endTaint()
        .endSpec()
        .withNewStatus()
        .addNewCondition()
        .withType("Ready")
        .withStatus(ready ? "True" : "Unknown")
        .endCondition()
        .endStatus()
        .build();
  }

  private static NodeUse use(Node node, boolean answers, boolean lost) {
    return NodeUse.of(node, TAINTS, answers, lost);
  }

  @Test
  void aReadyNodeIsOpenAndOtherTaintsAreTheSchedulersBusiness() {
    assertThat(use(node("n", true, false, "example.com/x"), false, false)).isEqualTo(NodeUse.OPEN);
  }

  @Test
  void repliesOfAWellNodeAreNoNews() {
    NodeUses uses = new NodeUses(TAINTS);
    assertThat(uses.heard(Set.of("well"), Set.of(), "well"::equals)).isFalse();
    assertThat(uses.heard(Set.of(), Set.of(), "well"::equals)).isFalse();
    assertThat(uses.heard(Set.of("ill"), Set.of(), "well"::equals)).isTrue();
    assertThat(uses.heard(Set.of("ill"), Set.of(), "well"::equals)).isFalse();
    assertThat(uses.heard(Set.of(), Set.of(), "well"::equals)).isTrue();
    assertThat(uses.heard(Set.of(), Set.of("well"), "well"::equals)).isTrue();
    assertThat(uses.heard(Set.of(), Set.of("well"), "well"::equals)).isFalse();
  }

  @Test
  void aCordonKeepsWhoIsThere() {
    assertThat(use(node("n", true, true, "example.com/x"), false, false)).isEqualTo(NodeUse.KEEP);
  }

  @Test
  void aNoticeMakesThemLeaveCordonedOrNot() {
    assertThat(use(node("n", true, true, "karpenter.sh/disrupted"), true, false))
        .isEqualTo(NodeUse.LEAVE);
    assertThat(use(node("n", true, false, "karpenter.sh/disrupted"), true, false))
        .isEqualTo(NodeUse.LEAVE);
  }

  @Test
  void aNodeThatIsNotReadyIsLostUnlessItsReplicasAnswer() {
    assertThat(use(node("n", false, false, "example.com/x"), false, false)).isEqualTo(NodeUse.LOST);
    assertThat(use(node("n", false, false, "example.com/x"), true, false)).isEqualTo(NodeUse.KEEP);
    assertThat(use(node("n", false, true, "example.com/x"), false, false)).isEqualTo(NodeUse.LOST);
  }

  @Test
  void aNodeTakenForDeadIsLostThoughItSaysReady() {
    assertThat(use(node("n", true, false, "example.com/x"), false, true)).isEqualTo(NodeUse.LOST);
  }

  private final TrainingJob job = TestJobs.job("a", 1, 8, GoodputSpec.Mode.Fixed);
  private final List<Pod> pods = new ArrayList<>();

  private Pod pod(String node) {
    Pod pod =
        new PodBuilder()
            .withNewMetadata()
            .withNamespace("team")
            .withName("a-" + pods.size())
            .withLabels(Labels.of("a"))
            .withOwnerReferences(PodTemplate.owner(job))
            .endMetadata()
            .withNewSpec()
            .withNodeName(node)
            .endSpec()
            .build();
    pods.add(pod);
    return pod;
  }

  private RoundNodes round(Allocation allocation) {
    return RoundNodes.of(
        List.of(node("n1", true, false, "t"), node("n2", true, true, "t")),
        node -> NodeUse.of(node, TAINTS, false, false),
        List.of(
            JobReading.of(
                job,
                new AllocationStatus(
                    allocation.replicas(),
                    allocation.replicasByNode(),
                    null,
                    1,
                    "2026-01-01T00:00:00Z",
                    "Started",
                    ".",
                    null,
                    null,
                    allocation.slotsPerReplica()))),
        id -> pods);
  }

  @Test
  void aJobStaysOnACordonedNodeWhileItsReplicasThereLive() {
    Allocation both = new Allocation(new java.util.TreeMap<>(Map.of("n1", 2, "n2", 1)));
    Pod there = pod("n2");
    assertThat(round(both).staying()).containsExactly(Labels.id(job));
    assertThat(round(both).kept()).containsExactly(Map.entry("n2", 1));
    assertThat(round(both).there(Labels.id(job), both)).isTrue();
    there.getMetadata().setDeletionTimestamp("2026-01-01T00:00:00Z");
    assertThat(round(both).staying()).as("evicted").isEmpty();
    assertThat(round(both).kept()).isEmpty();
    assertThat(round(both).there(Labels.id(job), both)).isFalse();
  }

  @Test
  void whatStaysIsKeptInSlots() {
    pod("n2");
    Allocation both = new Allocation(new java.util.TreeMap<>(Map.of("n1", 2, "n2", 1)), 4);
    assertThat(round(both).kept()).containsExactly(Map.entry("n2", 4));
  }

  @Test
  void aJobElsewhereIsNotConcerned() {
    Allocation open = Allocation.on("n1", 2);
    assertThat(round(open).staying()).isEmpty();
    assertThat(round(open).there(Labels.id(job), open)).isTrue();
  }

  @Test
  void aJobThatIsAlsoOnALostNodeCannotStay() {
    pod("n2");
    Allocation lost = new Allocation(new java.util.TreeMap<>(Map.of("gone", 1, "n2", 1)));
    assertThat(round(lost).staying()).isEmpty();
  }
}
