package dev.kastor.operator.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.scheduler.model.JobId;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class PodStoreTest {
  private static final JobId BERT = new JobId("team", "bert");
  private static final int CHANGES = 20_000;

  private final PodStore store = new PodStore();

  @Test
  void aPodIsFoundByTheJobThatItClaimsAndTheNodeThatItWasMadeFor() {
    put(pod("bert", 0, "n1", "Pending"));
    put(
        new PodBuilder(pod("bert", 1, "n1", "Running"))
            .editMetadata()
            .withLabels(null)
            .endMetadata()
            .build());

    assertThat(names(store.claiming(BERT))).containsExactly("bert-0");
    assertThat(names(store.meantFor("n1"))).containsExactly("bert-0");
    assertThat(names(store.on("n1"))).containsExactly("bert-1");
    assertThat(store.claiming(new JobId("team", "other"))).isEmpty();
  }

  @Test
  void aPodLeavesWhereItWasMeantToBeOnceItIsThere() {
    put(pod("bert", 0, "n1", "Pending"));
    put(pod("bert", 0, "n1", "Running"));

    assertThat(store.meantFor("n1")).isEmpty();
    assertThat(names(store.on("n1"))).containsExactly("bert-0");
    assertThat(names(store.claiming(BERT))).containsExactly("bert-0");
  }

  @Test
  void aPodThatIsGoneIsNowhere() {
    put(pod("bert", 0, "n1", "Pending"));
    put(pod("bert", 1, "n1", "Running"));
    store.remove("team/bert-0");
    store.remove("team/bert-1");
    store.remove("team/bert-2");

    assertThat(store.claiming(BERT)).isEmpty();
    assertThat(store.meantFor("n1")).isEmpty();
    assertThat(store.on("n1")).isEmpty();
  }

  @Tag("slow")
  @Test
  void whoeverLooksForAJobsPodWhileItChangesFindsIt() {
    put(pod("bert", 0, "n1", "Running"));
    int missed =
        missed(
            () -> {
              for (int i = 0; i < CHANGES; i++) {
                put(pod("bert", 0, "n1", "Running"));
                // Of the same job and node, so that entries grow and shrink.
                put(pod("bert", 1, "n1", "Running"));
                store.remove("team/bert-1");
              }
            },
            () ->
                names(store.claiming(BERT)).contains("bert-0")
                    && names(store.on("n1")).contains("bert-0"));
    assertThat(missed).isZero();
  }

  @Tag("slow")
  @Test
  void whoeverLooksForANodesPodWhileItGetsThereFindsIt() {
    put(pod("bert", 0, "n0", "Pending"));
    AtomicInteger last = new AtomicInteger();
    int missed =
        missed(
            () -> {
              for (int i = 1; i < CHANGES; i++) {
                put(pod("bert" + i, 0, "n" + i, "Pending"));
                last.set(i);
                put(pod("bert" + i, 0, "n" + i, "Running"));
              }
            },
            () -> {
              int pod = last.get();
              // In the order in which the cache asks.
              return !store.meantFor("n" + pod).isEmpty() || !store.on("n" + pod).isEmpty();
            });
    assertThat(missed).isZero();
  }

  /** Number of looks that found nothing while another thread wrote. */
  private static int missed(Runnable writes, BooleanSupplier look) {
    CompletableFuture<Void> writer = CompletableFuture.runAsync(writes);
    int missed = 0;
    do {
      missed += look.getAsBoolean() ? 0 : 1;
    } while (!writer.isDone());
    // Fails if the writer did.
    writer.join();
    return missed;
  }

  private void put(Pod pod) {
    store.put(store.getKey(pod), pod);
  }

  private static List<String> names(Iterable<Pod> pods) {
    List<String> names = new ArrayList<>();
    pods.forEach(pod -> names.add(pod.getMetadata().getName()));
    return names;
  }

  private static Pod pod(String job, int number, String node, String phase) {
    return new PodBuilder()
        .withNewMetadata()
        .withNamespace("team")
        .withName(job + "-" + number)
        .withLabels(Labels.of(job))
        .withAnnotations(Map.of(Labels.NODE, node))
        .addNewOwnerReference()
        .withApiVersion("kastor.dev/v1alpha1")
        .withKind("TrainingJob")
        .withName(job)
        .withUid("u1")
        .withController(true)
        .endOwnerReference()
        .endMetadata()
        .withNewSpec()
        .withNodeName(node)
        .endSpec()
        .withNewStatus()
        .withPhase(phase)
        .endStatus()
        .build();
  }
}
