package dev.kastor.operator.pods;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

// Builders of the client library take nulls.
@NullUnmarked
class NodeMatchTest {
  private static final PodNode NONE = new PodNode("no-node", "no-node.kastor.dev");

  private static Node node(String taint, String value, String effect) {
    return new NodeBuilder()
        .withNewMetadata()
        .withName("n1")
        .addToLabels("zone", "a")
        .addToLabels("size", "8")
        .endMetadata()
        .withNewSpec()
        .addNewTaint(effect, taint, null, value)
        .endSpec()
        .withNewStatus()
        .withAllocatable(
            Map.of(
                "cpu", new Quantity("4"),
                "memory", new Quantity("8Gi"),
                "pods", new Quantity("3")))
        .endStatus()
        .build();
  }

  private static Node plain() {
    return node("soft", "", "PreferNoSchedule");
  }

  private static PodSpecBuilder pod() {
    return new PodSpecBuilder().addNewContainer().withName("agent").endContainer();
  }

  private static PodSpec asking(String cpu, String memory) {
    return new PodSpecBuilder()
        .addNewContainer()
        .withName("agent")
        .withNewResources()
        .addToRequests("cpu", new Quantity(cpu))
        .addToRequests("memory", new Quantity(memory))
        .endResources()
        .endContainer()
        .build();
  }

  private static Optional<String> problem(PodSpec pod, Node node, List<PodSpec> others) {
    return NodeMatch.of(pod, NONE).problem(node, NodeMatch.Left.of(node, others));
  }

  private static Optional<String> problem(PodSpec pod, Node node) {
    return problem(pod, node, List.of());
  }

  @ParameterizedTest
  @CsvSource({
    "node.kubernetes.io/disk-pressure, '', NoSchedule, true",
    "node.cilium.io/agent-not-ready, '', NoExecute, true",
    "dedicated, team-a, NoSchedule, false",
    "node.kubernetes.io/memory-pressure, '', PreferNoSchedule, false",
    "nvidia.com/gpu, present, NoSchedule, false",
    "node.kubernetes.io/unschedulable, '', NoSchedule, false",
    "node.kubernetes.io/not-ready, '', NoExecute, false",
  })
  void taintsOfNodesThatAreNotWellCloseThemToWhoeverDoesNotTolerateThem(
      String key, String value, String effect, boolean closed) {
    assertThat(problem(pod().build(), node(key, value, effect)).isPresent()).isEqualTo(closed);
  }

  @ParameterizedTest
  @CsvSource({
    "example.com/agent-not-ready, Equal, team-a, NoSchedule, true",
    "example.com/agent-not-ready, '', team-a, '', true",
    "example.com/agent-not-ready, Exists, '', NoSchedule, true",
    "'', Exists, '', '', true",
    "'', Equal, '', '', false",
    "example.com/agent-not-ready, Equal, team-b, NoSchedule, false",
    "example.com/agent-not-ready, Equal, team-a, NoExecute, false",
    "other, Exists, '', '', false",
  })
  void tolerationsOpenIt(String key, String operator, String value, String effect, boolean opens) {
    PodSpec spec =
        pod()
            .addNewToleration()
            .withKey(key.isEmpty() ? null : key)
            .withOperator(operator.isEmpty() ? null : operator)
            .withValue(value.isEmpty() ? null : value)
            .withEffect(effect.isEmpty() ? null : effect)
            .endToleration()
            .build();
    assertThat(problem(spec, node("example.com/agent-not-ready", "team-a", "NoSchedule")).isEmpty())
        .isEqualTo(opens);
  }

  @Test
  void aTaintIsNamedAsKubectlShowsIt() {
    assertThat(problem(pod().build(), node("example.com/agent-not-ready", "team-a", "NoSchedule")))
        .hasValue("taint example.com/agent-not-ready=team-a:NoSchedule that it does not tolerate");
    assertThat(problem(pod().build(), node("example.com/agent-not-ready", "", "NoExecute")))
        .hasValue("taint example.com/agent-not-ready:NoExecute that it does not tolerate");
  }

  @ParameterizedTest
  @CsvSource({
    "zone, In, a, true",
    "zone, In, b, false",
    "zone, NotIn, a, false",
    "none, NotIn, a, true",
    "zone, Exists, , true",
    "none, Exists, , false",
    "none, DoesNotExist, , true",
    "size, Gt, 7, true",
    "size, Gt, 8, false",
    "size, Lt, 9, true",
    "zone, Gt, 7, false",
  })
  void requiredAffinityIsThatOfKubernetes(String key, String operator, String value, boolean fits) {
    var spec = pod().build();
    spec.setAffinity(
        new io.fabric8.kubernetes.api.model.AffinityBuilder()
            .withNewNodeAffinity()
            .withNewRequiredDuringSchedulingIgnoredDuringExecution()
            .addNewNodeSelectorTerm()
            .addNewMatchExpression()
            .withKey(key)
            .withOperator(operator)
            .withValues(value == null ? List.of() : List.of(value))
            .endMatchExpression()
            .endNodeSelectorTerm()
            .endRequiredDuringSchedulingIgnoredDuringExecution()
            .endNodeAffinity()
            .build());
    assertThat(problem(spec, plain()).isEmpty()).isEqualTo(fits);
  }

  @Test
  void theNodeThatWasChosenOnlyToHaveOneDoesNotCount() {
    var pod =
        new io.fabric8.kubernetes.api.model.PodBuilder()
            .withNewMetadata()
            .addToAnnotations("a", "b")
            .endMetadata()
            .withSpec(pod().addToNodeSelector("zone", "a").build())
            .build();
    NONE.choose(pod);
    assertThat(problem(pod.getSpec(), plain())).isEmpty();
    pod.getSpec().setNodeSelector(Map.of("zone", "b"));
    assertThat(problem(pod.getSpec(), plain())).hasValue("it lacks labels of {zone=b}");
  }

  @Test
  void whatPodsOfOthersLeaveHasToBeEnough() {
    assertThat(problem(asking("2", "4Gi"), plain(), List.of(asking("2", "4Gi")))).isEmpty();
    assertThat(problem(asking("2", "4Gi"), plain(), List.of(asking("2500m", "1Gi"))))
        .hasValue("not enough CPU");
    assertThat(problem(asking("1", "4Gi"), plain(), List.of(asking("1", "4097Mi"))))
        .hasValue("not enough memory");
    assertThat(
            problem(pod().build(), plain(), List.of(pod().build(), pod().build(), pod().build())))
        .hasValue("as many pods as it may have");
    assertThat(problem(pod().build(), plain(), List.of(asking("9", "99Gi"))))
        .as("who asks for nothing always fits")
        .isEmpty();
  }
}
