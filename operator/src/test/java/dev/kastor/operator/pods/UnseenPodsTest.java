package dev.kastor.operator.pods;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.operator.kube.Labels;
import dev.kastor.scheduler.model.JobId;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class UnseenPodsTest {
  private static final JobId BERT = new JobId("team", "bert");

  private final UnseenPods unseen = new UnseenPods();

  @Test
  void aPodThatWasMadeCountsBeforeTheCacheShowsIt() {
    unseen.add(pod("bert", 0, 7));

    assertThat(unseen.of(BERT, cache(6))).hasSize(1);
    assertThat(unseen.on("node", cache(6))).hasSize(1);
    assertThat(unseen.on("other", cache(6))).isEmpty();
  }

  @Test
  void aPodThatTheCacheShowsCountsOnceAndIsForgotten() {
    unseen.add(pod("bert", 0, 7));

    assertThat(unseen.of(BERT, cache(7, pod("bert", 0, 7)))).hasSize(1);
    assertThat(unseen.size()).isZero();
    assertThat(unseen.on("node", cache(6))).isEmpty();
  }

  @Test
  void aPodThatANewerCacheLacksWasRemovedMeanwhile() {
    unseen.add(pod("bert", 0, 7));

    assertThat(unseen.on("node", cache(7))).isEmpty();
    assertThat(unseen.size()).isZero();
  }

  @Test
  void theVersionIsReadBeforeThePodsThatItVouchesFor() {
    unseen.add(pod("bert", 0, 7));
    List<Pod> shown = new ArrayList<>();
    // The pod arrives between the two questions.
    UnseenPods.Cache late =
        new UnseenPods.Cache() {
          @Override
          public long version() {
            shown.add(pod("bert", 0, 7));
            return 6;
          }

          @Override
          public List<Pod> pods() {
            return shown;
          }
        };

    assertThat(unseen.of(BERT, late)).hasSize(1);
  }

  @Tag("slow")
  @Test
  void aLookAtOneJobDoesNotLookAtThePodsOfOthers() {
    for (int i = 0; i < 10_000; i++) {
      unseen.add(pod("job-" + i, 0, 7));
    }
    unseen.add(pod("bert", 0, 7));

    // Pods of others, however old, are left as they are: nobody looked.
    unseen.of(BERT, cache(8));

    assertThat(unseen.size()).isEqualTo(10_000);
  }

  private static UnseenPods.Cache cache(long version, Pod... pods) {
    return new UnseenPods.Cache() {
      @Override
      public long version() {
        return version;
      }

      @Override
      public List<Pod> pods() {
        return List.of(pods);
      }
    };
  }

  private static Pod pod(String job, int number, int version) {
    return new PodBuilder()
        .withNewMetadata()
        .withNamespace("team")
        .withName(job + "-" + number)
        .withResourceVersion("" + version)
        .withLabels(Labels.of(job))
        .withAnnotations(Map.of(Labels.NODE, "node"))
        .endMetadata()
        .withNewSpec()
        .endSpec()
        .build();
  }
}
