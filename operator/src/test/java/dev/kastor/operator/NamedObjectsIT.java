package dev.kastor.operator;

import static dev.kastor.operator.TestBench.NAMESPACE;
import static dev.kastor.operator.TestBench.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.ServiceBuilder;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.common.http.TestHTTPResource;
import io.quarkus.test.junit.QuarkusTest;
import java.net.URI;
import java.util.Map;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Jobs whose Secret or Service has a name that is somebody else's. */
// As in the operator's tests: a null would fail the test as it should.
@NullUnmarked
@QuarkusTest
@QuarkusTestResource(FakeApiServer.class)
@Tag("never-retried")
class NamedObjectsIT {
  private static final String GANG =
      """
      "elastic": {"minReplicas": 2, "maxReplicas": 2},
      "template": {"spec": {"containers": [{"name": "main", "image": "trainer:1"}]}}
      """;

  @TestHTTPResource(value = "/", tls = true)
  URI base;

  private final TestBench bench = new TestBench();
  private FakeAgents agents;

  @BeforeEach
  void startKubelet() {
    String url = base.toString();
    agents =
        new FakeAgents(
            bench.client,
            new AgentClient(url.substring(0, url.length() - 1), FakeApiServer.certificate()));
    bench.node("n1", 4);
  }

  @AfterEach
  void removeAll() {
    bench.client.secrets().inNamespace(NAMESPACE).withName(ring()).delete();
    bench.client.services().inNamespace(NAMESPACE).withName(bench.name + "-gang").delete();
    bench.clear();
    agents.close();
  }

  @Test
  void aSecretOfAnotherStaysAndTheJobSaysSo() {
    bench
        .client
        .secrets()
        .resource(secret().withData(Map.of("password", "czNjcjN0")).build())
        .create();

    bench.program("\"elastic\": {\"minReplicas\": 2, \"maxReplicas\": 2}");

    await("it says what it waits for", () -> waitsFor("SecretNameTaken"));
    assertThat(bench.condition("Queued").getMessage()).contains(ring()).contains("delete it");
    await("it holds nothing", () -> bench.allocated() == 0);
    assertThat(stored().getData()).isEqualTo(Map.of("password", "czNjcjN0"));
    assertThat(bench.pods()).isEmpty();
  }

  @Test
  void aServiceOfAnotherStaysAndTheJobSaysSo() {
    bench
        .client
        .services()
        .resource(
            new ServiceBuilder()
                .withNewMetadata()
                .withNamespace(NAMESPACE)
                .withName(bench.name + "-gang")
                .endMetadata()
                .withNewSpec()
                .addToSelector("app", "shop")
                .endSpec()
                .build())
        .create();

    bench.submit("", GANG);

    await("it says what it waits for", () -> waitsFor("ServiceNameTaken"));
    await("it holds nothing", () -> bench.allocated() == 0);
    assertThat(bench.pods()).isEmpty();
  }

  @Test
  void aStartThatFailsForWhateverReasonGivesTheSlotsBack() {
    bench.program("\"suspend\": true, \"elastic\": {\"minReplicas\": 2, \"maxReplicas\": 2}");
    await("it is suspended", () -> bench.in(Phase.Suspended));
    // A Secret of the job itself, as far as anybody can tell, that cannot be read.
    bench
        .client
        .secrets()
        .resource(
            secret()
                .withData(Map.of("secret", "AAAA", "ca.crt", "!"))
                .editMetadata()
                .addToOwnerReferences(
                    new OwnerReferenceBuilder()
                        .withApiVersion(new TrainingJob().getApiVersion())
                        .withKind("TrainingJob")
                        .withName(bench.name)
                        .withUid(bench.resource().get().getMetadata().getUid())
                        .build())
                .endMetadata()
                .build())
        .create();

    bench.suspend(false);

    await("it says that it cannot start", () -> waitsFor("StartFailed"));
    assertThat(bench.status().orElseThrow().failedStarts()).isPositive();
    bench.client.secrets().inNamespace(NAMESPACE).withName(ring()).delete();
    await("it runs once the reason is gone", () -> bench.in(Phase.Running));
  }

  private boolean waitsFor(String reason) {
    return bench.in(Phase.Queued) && bench.condition("Queued").getReason().equals(reason);
  }

  private String ring() {
    return bench.name + "-ring";
  }

  private Secret stored() {
    return bench.client.secrets().inNamespace(NAMESPACE).withName(ring()).get();
  }

  private SecretBuilder secret() {
    return new SecretBuilder()
        .withNewMetadata()
        .withNamespace(NAMESPACE)
        .withName(ring())
        .endMetadata();
  }
}
