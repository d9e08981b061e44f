package dev.kastor.operator.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.GoodputSpec;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.CrudServer;
import dev.kastor.operator.TestJobs;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("never-retried")
class ProvenanceTest {
  private final TrainingJob job = TestJobs.job("bert", 1, 4, GoodputSpec.Mode.Adaptive);
  private final KubernetesMockServer server = CrudServer.start();
  private final KubernetesClient client = server.createClient();
  private final PodNumbers numbers =
      new PodNumbers(new JobRecords(), new StatusWriter(new JobRecords(), client));
  private final Provenance provenance = new Provenance(numbers);

  @BeforeEach
  void submit() {
    client.resources(TrainingJob.class).inNamespace("team").resource(job).create();
  }

  @AfterEach
  void stop() {
    client.close();
    server.destroy();
  }

  @Test
  void aPodOfTheJobWithANumberThatItWasGivenIsOurs() {
    assertThat(made("bert-0", meta -> meta)).isTrue();
    assertThat(made("bert-3", meta -> meta)).isTrue();
  }

  @Test
  void numbersThatWereNotGivenAreNotOurs() {
    assertThat(made("bert-4", meta -> meta)).as("more than it may have at first").isFalse();
    numbers.reserve(job, 0, 2);
    assertThat(made("bert-1", meta -> meta)).isTrue();
    assertThat(made("bert-2", meta -> meta)).as("given by nobody yet").isFalse();
    numbers.reserve(job, 0, 3);
    assertThat(made("bert-4", meta -> meta)).isTrue();
    assertThat(made("bert-5", meta -> meta)).isFalse();
  }

  @Tag("slow")
  @ParameterizedTest
  @ValueSource(
      strings = {
        "bert",
        "bert-",
        "bert-x",
        "bert--1",
        "bert-00",
        "bert-1-2",
        "other-0",
        "bert-1e0",
        "bert-999999999999999999999"
      })
  void otherNamesAreNotOurs(String name) {
    assertThat(made(name, meta -> meta)).isFalse();
  }

  @Test
  void whatDoesNotFitTogetherIsNotOurs() {
    assertThat(made("bert-0", meta -> meta.withLabels(Labels.of("other")))).isFalse();
    assertThat(made("bert-0", meta -> meta.removeFromLabels(Labels.MANAGED_BY))).isFalse();
    assertThat(made("bert-0", meta -> meta.withNamespace("hostile"))).isFalse();
    assertThat(made("bert-0", meta -> meta.withOwnerReferences())).isFalse();
    assertThat(made("bert-0", meta -> owned(meta, "Job", "batch/v1", "bert", true))).isFalse();
    assertThat(made("bert-0", meta -> owned(meta, "TrainingJob", "x.dev/v1", "bert", true)))
        .isFalse();
    assertThat(made("bert-0", meta -> owned(meta, "TrainingJob", api(), "other", true))).isFalse();
    assertThat(made("bert-0", meta -> owned(meta, "TrainingJob", api(), "bert", false))).isFalse();
    job.getMetadata().setUid("uid-of-the-next-bert");
    assertThat(made("bert-0", meta -> meta)).as("an earlier job of the name").isFalse();
  }

  private String api() {
    return job.getApiVersion();
  }

  private boolean made(String name, UnaryOperator<ObjectMetaBuilder> change) {
    ObjectMetaBuilder meta =
        new ObjectMetaBuilder().withNamespace("team").withName(name).withLabels(Labels.of("bert"));
    Pod pod = new Pod();
    pod.setMetadata(change.apply(owned(meta, "TrainingJob", api(), "bert", true)).build());
    return Provenance.claim(pod).filter(claim -> provenance.made(job, claim)).isPresent();
  }

  private static ObjectMetaBuilder owned(
      ObjectMetaBuilder meta, String kind, String api, String name, boolean controller) {
    return meta.withOwnerReferences(
        new OwnerReferenceBuilder()
            .withKind(kind)
            .withApiVersion(api)
            .withName(name)
            .withUid("uid-of-bert")
            .withController(controller)
            .build());
  }
}
