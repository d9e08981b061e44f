package dev.kastor.operator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.BatchSizeSpec;
import dev.kastor.crds.ElasticSpec;
import dev.kastor.crds.FaultToleranceSpec;
import dev.kastor.crds.GoodputSpec;
import dev.kastor.crds.LearningRateSpec;
import dev.kastor.crds.ProgramSpec;
import dev.kastor.crds.TrainingJob;
import dev.kastor.crds.TrainingJobSpec;
import dev.kastor.crds.TrainingJobStatus;
import dev.kastor.crds.TrainingJobStatus.Phase;
import dev.kastor.crds.WorkSpec;
import dev.kastor.operator.cluster.AllocationWriter;
import dev.kastor.protocol.Membership;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.common.http.TestHTTPResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@QuarkusTest
@QuarkusTestResource(FakeApiServer.class)
class OperatorIT {
  private static final String NAMESPACE = "team";

  @Inject AllocationWriter allocations;

  @TestHTTPResource(value = "/", tls = true)
  URI base;

  private final KubernetesClient client = FakeApiServer.client();
  private FakeAgents agents;
  private String name;

  @BeforeEach
  void startKubelet() {
    String url = base.toString();
    agents =
        new FakeAgents(
            client,
            new AgentClient(url.substring(0, url.length() - 1), FakeApiServer.certificate()));
    client
        .nodes()
        .resource(
            new NodeBuilder()
                .withNewMetadata()
                .withName("n1")
                .addToLabels("kubernetes.io/hostname", "n1")
                .endMetadata()
                .withNewStatus()
                .withAllocatable(Map.of("kastor.dev/slot", new Quantity("4")))
                .endStatus()
                .build())
        .createOr(existing -> existing.update());
    name = "job" + System.nanoTime();
  }

  @AfterEach
  void removeJob() throws InterruptedException {
    client.resources(TrainingJob.class).inNamespace(NAMESPACE).delete();
    await("no pods are left", () -> pods().isEmpty());
    agents.close();
  }

  @Test
  void gangStartsAndRuns() {
    submit(2, 2);
    await("two members train", () -> members() == 2);
    await("it says Running", () -> phase() == Phase.Running);
    await("the summary is written", () -> status().training() != null);
    assertThat(status().generation()).isPositive();
    assertThat(agents.started()).containsExactlyInAnyOrder(name + "-0", name + "-1");
  }

  private void submit(int min, int max) {
    var job = new TrainingJob();
    job.getMetadata().setName(name);
    job.getMetadata().setNamespace(NAMESPACE);
    job.setSpec(
        new TrainingJobSpec(
            false,
            new ElasticSpec(min, max, null),
            new GoodputSpec(
                null,
                new BatchSizeSpec(32, null, null, null),
                new LearningRateSpec("0.1", null),
                new WorkSpec(1L, null, null)),
            null,
            new FaultToleranceSpec(2, 0, 1),
            new ProgramSpec("glyph-mlp", Map.of())));
    client.resources(TrainingJob.class).inNamespace(NAMESPACE).resource(job).create();
  }

  private TrainingJob job() {
    return client.resources(TrainingJob.class).inNamespace(NAMESPACE).withName(name).get();
  }

  private TrainingJobStatus status() {
    return job().getStatus();
  }

  private Phase phase() {
    TrainingJob job = job();
    return job == null || job.getStatus() == null ? null : job.getStatus().phase();
  }

  private List<Pod> pods() {
    return client.pods().inNamespace(NAMESPACE).withLabel("kastor.dev/job", name).list().getItems();
  }

  /** Members that agree on one generation; 0 while they do not. */
  private int members() {
    List<Membership> seen =
        pods().stream()
            .flatMap(pod -> agents.membership(pod.getMetadata().getName()).stream())
            .distinct()
            .toList();
    return seen.size() == 1 ? seen.getFirst().members().size() : 0;
  }

  private static void await(String what, BooleanSupplier condition) {
    long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError("after 60 s it is still not so that " + what);
      }
      try {
        Thread.sleep(20);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new AssertionError(e);
      }
    }
  }
}
