package dev.kastor.operator;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.crds.trainingjob.GoodputSpec;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.protocol.Membership;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.Map;
import org.jspecify.annotations.NullUnmarked;

/** A job of one replica that trains, and whose words a test chooses. */
// As in the operator's tests: a null would fail the test as it should.
@NullUnmarked
final class LoneReplica implements AutoCloseable {
  static final String NAMESPACE = "team";
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final long PATIENCE_NANOS = 600_000_000_000L;

  final String job;
  final String pod;
  final String token;
  private final KubernetesClient client;
  private final AgentClient api;
  private long sequence;

  LoneReplica(KubernetesClient client, AgentClient api, String job)
      throws IOException, InterruptedException {
    this.client = client;
    this.api = api;
    this.job = job;
    pod = job + "-0";
    node();
    TrainingJob spec = TestJobs.job(job, 1, 1, GoodputSpec.Mode.Adaptive);
    spec.getMetadata().setUid(null);
    spec.getMetadata().setCreationTimestamp(null);
    client.resource(spec).create();
    await(
        "its pod is there", () -> client.pods().inNamespace(NAMESPACE).withName(pod).get() != null);
    Pod made = client.pods().inNamespace(NAMESPACE).withName(pod).get();
    client
        .pods()
        .resource(new PodBuilder(made).withNewStatus().withPhase("Running").endStatus().build())
        .updateStatus();
    token = FakeApiServer.token(NAMESPACE, job, pod);
    await("it trains", () -> membership(poll(0, "READY", 1)).action() == Membership.Action.RUN);
  }

  private void node() {
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
  }

  /** Path of a resource under the job. */
  String path(String resource) {
    return "/v1/jobs/%s/%s/%s".formatted(NAMESPACE, job, resource);
  }

  HttpResponse<String> poll(long generation, String phase, int waitSeconds)
      throws IOException, InterruptedException {
    return api.get(
        path(
            "membership?pod=%s&address=127.0.0.1:1234&generation=%d&phase=%s&step=1&wait=%d"
                .formatted(pod, generation, phase, waitSeconds)),
        token);
  }

  static Membership membership(HttpResponse<String> answer) throws IOException {
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return JSON.readValue(answer.body(), Membership.class);
  }

  /** A report that is taken in, of the newest generation. */
  HttpResponse<String> report() throws IOException, InterruptedException {
    return report(generation(), ++sequence, 1);
  }

  HttpResponse<String> report(long generation, long sequenceNumber, long step)
      throws IOException, InterruptedException {
    return api.post(path("telemetry"), token, body(generation, sequenceNumber, step));
  }

  byte[] body(long generation, long sequenceNumber, long step) {
    return """
    {"namespace": "%s", "job": "%s", "pod": "%s", "generation": %d, "sequence": %d,
     "replicas": 1, "batch": {"atomicBatchSize": 32, "accumulationSteps": 0}, "profiles": [],
     "progress": {"step": %d, "scaleInvariantSteps": 1.5, "totalScaleInvariantSteps": 100,
                  "examples": 32, "epoch": 0},
     "switches": []}
    """
        .formatted(NAMESPACE, job, pod, generation, sequenceNumber, step)
        .getBytes(UTF_8);
  }

  /** The newest generation that the operator stored. */
  long generation() {
    TrainingJobStatus status = resource().get().getStatus();
    return status == null || status.generation() == null ? 0 : status.generation();
  }

  Resource<TrainingJob> resource() {
    return client.resources(TrainingJob.class).inNamespace(NAMESPACE).withName(job);
  }

  @Override
  public void close() throws IOException {
    resource().delete();
    try {
      await(
          "its pods are gone",
          () ->
              client
                  .pods()
                  .inNamespace(NAMESPACE)
                  .withLabel("kastor.dev/job", job)
                  .list()
                  .getItems()
                  .isEmpty());
    } catch (InterruptedException e) {
      // Whoever closes resources may not be interrupted; the next wait notices.
      Thread.currentThread().interrupt();
    }
  }

  /** A condition that may ask over HTTP. */
  interface Question {
    boolean holds() throws IOException, InterruptedException;
  }

  static void await(String what, Question question) throws IOException, InterruptedException {
    long end = System.nanoTime() + PATIENCE_NANOS;
    while (!question.holds()) {
      assertThat(System.nanoTime()).as("in time: %s", what).isLessThan(end);
      Thread.sleep(20);
    }
  }
}
