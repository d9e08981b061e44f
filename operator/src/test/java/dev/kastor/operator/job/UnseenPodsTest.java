package dev.kastor.operator.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.operator.cluster.Labels;
import dev.kastor.scheduler.JobId;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class UnseenPodsTest {
  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");
  private static final JobId BERT = new JobId("team", "bert");

  private final UnseenPods unseen = new UnseenPods();

  @Test
  void aPodThatWasMadeCountsBeforeTheCacheShowsIt() {
    unseen.add(pod("bert", 0), NOW);

    assertThat(unseen.of(BERT, List::of, NOW)).hasSize(1);
    assertThat(unseen.on("node", List::of, NOW)).hasSize(1);
    assertThat(unseen.on("other", List::of, NOW)).isEmpty();
  }

  @Test
  void aPodThatTheCacheShowsCountsOnceAndIsForgotten() {
    unseen.add(pod("bert", 0), NOW);

    assertThat(unseen.of(BERT, () -> List.of(pod("bert", 0)), NOW)).hasSize(1);
    assertThat(unseen.size()).isZero();
    assertThat(unseen.on("node", List::of, NOW)).isEmpty();
  }

  @Test
  void aPodThatIsNeverShownWasRemovedMeanwhile() {
    unseen.add(pod("bert", 0), NOW);

    assertThat(unseen.of(BERT, List::of, NOW.plusSeconds(11))).isEmpty();
    assertThat(unseen.size()).isZero();
  }

  @Test
  void aLookAtOneJobDoesNotLookAtThePodsOfOthers() {
    for (int i = 0; i < 10_000; i++) {
      unseen.add(pod("job-" + i, 0), NOW);
    }
    unseen.add(pod("bert", 0), NOW);

    // Pods of others, however old, are left as they are: nobody looked.
    unseen.of(BERT, List::of, NOW.plusSeconds(11));

    assertThat(unseen.size()).isEqualTo(10_000);
  }

  private static Pod pod(String job, int number) {
    return new PodBuilder()
        .withNewMetadata()
        .withNamespace("team")
        .withName(job + "-" + number)
        .withLabels(Labels.of(job))
        .withAnnotations(Map.of(Labels.NODE, "node"))
        .endMetadata()
        .withNewSpec()
        .endSpec()
        .build();
  }
}
