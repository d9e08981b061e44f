package dev.kastor.local.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.crds.queue.Queue;
import dev.kastor.crds.queue.QueueSpec.StopPolicyKind;
import dev.kastor.local.Installation;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rules of the shipped definition of queues that an API server applies. */
final class QueueRulesTest {
  @TempDir Path logs;
  private LocalApi api;

  @BeforeEach
  void start() throws Exception {
    api = new LocalApi(logs);
    for (String resource : Installation.crdResources()) {
      try (InputStream crd = getClass().getClassLoader().getResourceAsStream(resource)) {
        api.server.define(Objects.requireNonNull(crd));
      }
    }
  }

  @AfterEach
  void stop() {
    api.close();
  }

  private Queue create(String spec) {
    Queue queue =
        Serialization.unmarshal(
            "apiVersion: kastor.dev/v1alpha1\nkind: Queue\nmetadata: {name: q}\nspec: %s"
                .formatted(spec),
            Queue.class);
    queue.getMetadata().setName("q" + System.nanoTime());
    return api.client.resource(queue).create();
  }

  @Tag("slow")
  @Test
  void everyFieldHasADefault() {
    Queue queue = create("{}");
    assertThat(queue.getSpec().weight()).isEqualTo(1);
    assertThat(queue.getSpec().stopPolicy()).isEqualTo(StopPolicyKind.None);
    assertThat(queue.getSpec().quota()).isNull();
    assertThat(create("{cohort: all, quota: {gpus: 4, lendingLimit: 4}}").getSpec().cohort())
        .isEqualTo("all");
  }

  @Tag("slow")
  @Test
  void refusesWhatContradictsItself() {
    refuses("{cohort: all}", "a queue of a cohort needs a quota");
    refuses("{quota: {gpus: 1, lendingLimit: 1}}", "mean nothing without a cohort");
    refuses(
        "{cohort: all, quota: {gpus: 1, lendingLimit: 2}}",
        "quota.lendingLimit (2) is above quota.gpus (1)");
    refuses("{weight: 0}", "weight");
    refuses("{quota: {gpus: -1}}", "spec.quota.gpus");
    refuses("{cohort: Not_a_name, quota: {gpus: 1}}", "spec.cohort");
    refuses("{namespaces: []}", "spec.namespaces");
  }

  private void refuses(String spec, String message) {
    assertThatThrownBy(() -> create(spec)).as(spec).hasMessageContaining(message);
  }
}
