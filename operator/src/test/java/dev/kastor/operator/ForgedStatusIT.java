package dev.kastor.operator;

import static dev.kastor.operator.TestBench.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.common.http.TestHTTPResource;
import io.quarkus.test.junit.QuarkusTest;
import java.net.URI;
import java.time.Instant;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Jobs whose status says what the operator never wrote. */
// As in the operator's tests: a null would fail the test as it should.
@NullUnmarked
@QuarkusTest
@QuarkusTestResource(FakeApiServer.class)
@Tag("never-retried")
class ForgedStatusIT {
  private static final String TWO = "\"elastic\": {\"minReplicas\": 2, \"maxReplicas\": 2}";

  @TestHTTPResource(value = "/", tls = true)
  URI base;

  @TestHTTPResource("/")
  URI plain;

  private final TestBench forged = new TestBench();
  private final TestBench other = new TestBench();
  private FakeAgents agents;

  @BeforeEach
  void startKubelet() {
    String url = base.toString();
    agents =
        new FakeAgents(
            other.client,
            new AgentClient(url.substring(0, url.length() - 1), FakeApiServer.certificate()));
    other.node("n1", 4);
  }

  @AfterEach
  void removeAll() {
    forged.clear();
    other.clear();
    agents.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"startTime\": \"yesterday\"",
        "\"notBefore\": \"soon\"",
        "\"training\": {\"checkpointTime\": \"1e9\"}",
        "\"allocation\": {\"nodes\": {}, \"version\": 1, \"since\": \"\", \"reason\": \"x\", \"message\": \"\"}"
      })
  void aTimeThatCannotBeReadStopsNoRound(String status) {
    forged.program(TWO);
    await("it runs", () -> forged.in(Phase.Running));
    double failed = failedRounds();

    patch(forged, status);

    double rounds = rounds();
    await("it was decided on twice", () -> rounds() >= rounds + 2);
    assertThat(failedRounds()).isEqualTo(failed);
    other.program(TWO);
    await("another runs", () -> other.in(Phase.Running));
  }

  @Test
  void anAllocationBelowTheMinimumStartsNobody() {
    forged.program("\"elastic\": {\"minReplicas\": 9, \"maxReplicas\": 9}");
    await("it waits", () -> forged.in(Phase.Queued));
    patch(
        forged,
        """
        "allocation": {"replicas": 4, "nodes": {"n1": 4}, "version": 7,
                       "since": "%s", "reason": "Started", "message": ""}
        """
            .formatted(Instant.now()));

    await("it has none", () -> forged.allocated() == 0);
    assertThat(agents.started()).isEmpty();
  }

  private double rounds() {
    return PlainHttp.metric(plain, "kastor_decision_seconds_count") + failedRounds();
  }

  private double failedRounds() {
    return PlainHttp.metric(plain, "kastor_rounds_failed_total");
  }

  private static void patch(TestBench bench, String status) {
    bench
        .resource()
        .subresource("status")
        .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"status\": {%s}}".formatted(status));
  }
}
