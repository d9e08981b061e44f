package dev.kastor.operator.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import dev.kastor.operator.cluster.Labels;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class UnansweredPodsTest {
  private final UnansweredPods unanswered = new UnansweredPods();

  @Test
  void onlyThoseOfTheNodeAreAskedForAndOnce() {
    unanswered.add(pod("bert-0", "a"));
    unanswered.add(pod("bert-1", "b"));

    assertThat(unanswered.settle(Set.of("a"), Optional::of)).containsExactly(pod("bert-0", "a"));
    assertThat(unanswered.settle(Set.of("a"), pod -> fail("asked again"))).isEmpty();
    assertThat(unanswered.settle(Set.of("b"), pod -> Optional.empty())).isEmpty();
    assertThat(unanswered.settle(Set.of("b"), pod -> fail("asked again"))).isEmpty();
  }

  @Test
  void oneThatCannotBeAskedForIsAskedForLater() {
    unanswered.add(pod("bert-0", "a"));

    assertThatThrownBy(() ->
            unanswered.settle(
                Set.of("a"),
                pod -> {
                  throw new KubernetesClientException("away");
                }))
        .hasMessage("away");
    assertThat(unanswered.settle(Set.of("a"), Optional::of)).hasSize(1);
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
