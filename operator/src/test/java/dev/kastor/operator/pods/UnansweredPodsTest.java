package dev.kastor.operator.pods;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import dev.kastor.operator.kube.Labels;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

class UnansweredPodsTest {
  private final UnansweredPods unanswered = new UnansweredPods();

  @Test
  void onlyThoseOfTheNodeAreAskedForAndOnce() {
    unanswered.add(pod("bert-0", "a"));
    unanswered.add(pod("bert-1", "b"));

    assertThat(settle("a", Optional::of)).containsExactly(pod("bert-0", "a"));
    assertThat(settle("a", pod -> fail("asked again"))).isEmpty();
    assertThat(settle("b", pod -> Optional.empty())).isEmpty();
    assertThat(settle("b", pod -> fail("asked again"))).isEmpty();
  }

  @Test
  void oneThatCannotBeAskedForIsHeldAndAskedForLater() {
    unanswered.add(pod("bert-0", "a"));

    assertThatThrownBy(() -> settle("a", UnansweredPodsTest::away)).hasMessage("away");
    assertThat(unanswered.on("a")).hasSize(1);
    assertThat(settle("a", Optional::of)).hasSize(1);
    assertThat(unanswered.on("a")).isEmpty();
  }

  @Test
  void oneThatIsThereIsPassedOnEvenIfTheNextCannotBeAskedFor() {
    unanswered.add(pod("bert-0", "a"));
    unanswered.add(pod("bert-1", "a"));
    List<Pod> there = new ArrayList<>();

    assertThatThrownBy(() ->
            unanswered.settle(
                Set.of("a"), pod -> there.isEmpty() ? Optional.of(pod) : away(pod), there::add))
        .hasMessage("away");
    assertThat(there).hasSize(1);
    assertThat(unanswered.on("a")).hasSize(1).doesNotContainAnyElementsOf(there);
  }

  @Test
  void oneIsStillHeldWhileItIsPassedOn() {
    unanswered.add(pod("bert-0", "a"));

    unanswered.settle(Set.of("a"), Optional::of, pod -> assertThat(unanswered.on("a")).hasSize(1));
  }

  private List<Pod> settle(String node, Function<Pod, Optional<Pod>> ask) {
    List<Pod> there = new ArrayList<>();
    unanswered.settle(Set.of(node), ask, there::add);
    return there;
  }

  private static Optional<Pod> away(Pod pod) {
    throw new KubernetesClientException("away");
  }

  private static Pod pod(String name, String node) {
    return new PodBuilder()
        .withNewMetadata()
        .withNamespace("team")
        .withName(name)
        .withAnnotations(Map.of(Labels.NODE, node))
        .endMetadata()
        .withNewSpec()
        .endSpec()
        .build();
  }
}
