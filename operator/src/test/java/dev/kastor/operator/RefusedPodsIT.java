package dev.kastor.operator;

import static dev.kastor.operator.TestBench.NAMESPACE;
import static dev.kastor.operator.TestBench.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.Pin;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.operator.FakeApiServer.Refused;
import dev.kastor.operator.pods.PodCheck;
import dev.kastor.operator.signal.Signals;
import dev.kastor.scheduler.model.JobId;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.common.http.TestHTTPResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Jobs whose pods the API server refuses when they are really made. */
// As in the operator's tests: a null would fail the test as it should.
@NullUnmarked
@QuarkusTest
@QuarkusTestResource(FakeApiServer.class)
class RefusedPodsIT {
  private static final String EXCEEDED =
      "pods \"x\" is forbidden: exceeded quota: gpus, requested: requests.nvidia.com/gpu=1, used:"
          + " requests.nvidia.com/gpu=2, limited: requests.nvidia.com/gpu=2";

  private static final String GANG_OF_THREE =
      """
      "elastic": {"minReplicas": 3, "maxReplicas": 3},
      "lifecycle": {"startDeadlineSeconds": 60, "startAttempts": 3},
      "template": {"spec": {"containers": [{"name": "main", "image": "trainer:1"}]}}
      """;

  @TestHTTPResource(value = "/", tls = true)
  URI base;

  @Inject MovableClock clock;
  @Inject Signals signals;

  private final TestBench bench = new TestBench();
  private final TestBench other = new TestBench();
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
    FakeApiServer.refusePods((_, _) -> Optional.empty());
    bench.clear();
    other.clear();
    agents.close();
  }

  @Test
  void aJobRunsWithWhatItCouldHaveAndOthersGetTheRest() {
    atMost(2);
    bench.program("\"suspend\": true, \"elastic\": {\"minReplicas\": 1, \"maxReplicas\": 4}");
    bench
        .resource()
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"metadata\": {\"annotations\": {\"%s\": \"4\"}}}".formatted(Pin.ANNOTATION));
    bench.suspend(false);

    await("it runs with two", () -> bench.in(Phase.Running) && bench.allocated() == 2);
    assertThat(bench.condition("PodsRefused").getStatus()).isEqualTo("True");
    assertThat(bench.condition("PodsRefused").getMessage()).contains("exceeded quota: gpus");
    other.program("\"elastic\": {\"minReplicas\": 2, \"maxReplicas\": 2}");
    await("another has the slots", () -> other.in(Phase.Running));
    assertThat(bench.allocated()).isEqualTo(2);
    assertThat(names()).containsExactlyInAnyOrder(bench.name + "-0", bench.name + "-1");
    assertThat(events("PodsRefused")).hasSize(1);

    other.clear();
    FakeApiServer.refusePods((_, _) -> Optional.empty());
    clock.advance(PodCheck.AGAIN);
    awaitLooking("it grows", () -> bench.allocated() == 4);
    await(
        "it has no number twice and none in vain",
        () -> names().containsAll(List.of(bench.name + "-2", bench.name + "-3")));
    awaitLooking(
        "nothing is refused any more",
        () -> bench.condition("PodsRefused").getStatus().equals("False"));
  }

  @Test
  void aGangGivesAllBackAndFailsInTheEnd() {
    atMost(2);
    bench.submit("", GANG_OF_THREE);

    await(
        "it says why it waits",
        () ->
            bench.in(Phase.Queued)
                && bench.condition("Queued").getReason().equals("PodsRefused")
                && bench.allocated() == 0);
    await("its pods are removed", () -> bench.pods().isEmpty());
    other.program("\"elastic\": {\"minReplicas\": 4, \"maxReplicas\": 4}");
    FakeApiServer.refusePods(
        (pod, _) -> of(pod, bench) ? Optional.of(new Refused(403, EXCEEDED)) : Optional.empty());
    await("another has its slots", () -> other.in(Phase.Running));

    clock.advance(Duration.ofSeconds(181));
    awaitLooking("it fails", () -> bench.in(Phase.Failed));
    assertThat(bench.condition("Failed").getReason()).isEqualTo("StartDeadlineExceeded");
    assertThat(bench.condition("Failed").getMessage())
        .contains("startDeadlineSeconds (60)")
        .contains("exceeded quota: gpus");
  }

  @Test
  void aWebhookThatIsAwayKeepsOneJobAndNoOther() {
    FakeApiServer.refusePods((pod, _) ->
        of(pod, bench)
            ? Optional.of(
                new Refused(
                    500,
                    "Internal error occurred: failed calling webhook \"check.example.com\": context"
                        + " deadline exceeded"))
            : Optional.empty());
    bench.program("\"elastic\": {\"minReplicas\": 4, \"maxReplicas\": 4}");
    await(
        "it says why it waits",
        () ->
            bench.in(Phase.Queued) && bench.condition("Queued").getReason().equals("PodsRefused"));
    assertThat(bench.condition("Queued").getMessage()).contains("check.example.com");
    other.program("\"elastic\": {\"minReplicas\": 4, \"maxReplicas\": 4}");
    await("another runs", () -> other.in(Phase.Running));
    assertThat(bench.allocated()).isZero();
  }

  /** Refuses pods of the job once so many were made. */
  private void atMost(int pods) {
    AtomicInteger made = new AtomicInteger();
    FakeApiServer.refusePods((pod, dryRun) -> {
      if (!of(pod, bench)) {
        return Optional.empty();
      }
      int before = dryRun ? made.get() : made.getAndUpdate(count -> Math.min(pods, count + 1));
      return before >= pods ? Optional.of(new Refused(403, EXCEEDED)) : Optional.empty();
    });
  }

  private static boolean of(Pod pod, TestBench job) {
    return pod.getMetadata().getLabels().get("kastor.dev/job").equals(job.name);
  }

  private List<String> names() {
    return bench.pods().stream().map(pod -> pod.getMetadata().getName()).toList();
  }

  private List<Event> events(String reason) {
    return bench.client.v1().events().inNamespace(NAMESPACE).list().getItems().stream()
        .filter(event -> event.getInvolvedObject().getName().equals(bench.name))
        .filter(event -> event.getReason().equals(reason))
        .toList();
  }

  /** Awaits what nothing but the time brings about: the job is looked at again and again. */
  private void awaitLooking(String what, BooleanSupplier condition) {
    await(
        what,
        () -> {
          signals.job(new JobId(NAMESPACE, bench.name));
          return condition.getAsBoolean();
        });
  }
}
