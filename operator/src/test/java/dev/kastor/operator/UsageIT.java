package dev.kastor.operator;

import static dev.kastor.operator.TestBench.NAMESPACE;
import static dev.kastor.operator.TestBench.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.operator.allocation.AllocationWriter;
import dev.kastor.operator.nodes.NodeTraits;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Reason;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.common.http.TestHTTPResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What jobs used, through starts, changes of size, crashes of replicas, pauses and the end. */
// As in the operator's tests: a null would fail the test as it should.
@NullUnmarked
@QuarkusTest
@QuarkusTestResource(FakeApiServer.class)
class UsageIT {
  private static final List<String> PARTS =
      List.of("useful", "inefficient", "starting", "rescaling", "failures", "unknown");

  @Inject MovableClock clock;

  @Inject AllocationWriter allocations;

  @TestHTTPResource(value = "/", tls = true)
  URI base;

  @TestHTTPResource("/")
  URI plain;

  private final TestBench job = new TestBench();
  private FakeAgents agents;

  @BeforeEach
  void startKubelet() {
    String url = base.toString();
    agents =
        new FakeAgents(
            job.client,
            new AgentClient(url.substring(0, url.length() - 1), FakeApiServer.certificate()));
    job.node("n1", 4);
  }

  @AfterEach
  void removeAll() {
    job.clear();
    agents.close();
  }

  @Test
  void aReportAddsUpToTheSlotsThatWereHeldAndToWhatTheyCost() throws Exception {
    price("7.20");
    job.submit(
        "\"labels\": {\"user\": \"%s\"},".formatted(job.name),
        """
        "elastic": {"minReplicas": 1, "maxReplicas": 4}, "program": {"name": "glyph-mlp"},
        "faultTolerance": {"maxRestarts": 9, "backoffSeconds": 0, "maxBackoffSeconds": 1},
        "goodput": {"batchSize": {"initial": 32}, "learningRate": {"base": "0.1"},
                    "work": {"epochs": 1}}
        """);
    await("it trains", () -> job.in(Phase.Running) && trains() == 1);
    allocate(4);
    await("it grows", () -> trains() == 4);
    await("what it does is measured", () -> part("useful") > 0);
    agents.crash(NAMESPACE, pod(0), 137);
    await("a replacement trains", () -> agents.started().size() > 4 && trains() == 4);
    job.pods().forEach(pod -> agents.crash(NAMESPACE, pod.getMetadata().getName(), 137));
    await("all train again", () -> agents.started().size() > 8 && trains() == 4);
    await("what is done again is counted", () -> part("failures") > 0);
    allocate(2);
    await("it shrinks", () -> trains() == 2);
    assertSumIsWhatWasHeld();

    job.suspend(true);
    await("it is suspended", () -> job.in(Phase.Suspended) && job.allocated() == 0);
    JsonNode row = assertSumIsWhatWasHeld();
    assertThat(row.path("starting").asLong()).isPositive();
    assertThat(row.path("rescaling").asLong()).isPositive();
    assertThat(job.status().orElseThrow().usage()).startsWith("1 ");

    Duration held = held();
    job.clear();
    await("the report still has it", () -> archived().contains(job.name));
    assertThat(row().path("held").asLong()).isEqualTo(held.toMillis());
  }

  @Test
  void aReportSaysForWhichTimeItIs() throws Exception {
    JsonNode report =
        new ObjectMapper()
            .readTree(PlainHttp.text(plain, "/api/v1/usage?by=family&since=2026-01-31"));
    assertThat(report.path("by").asText()).isEqualTo("FAMILY");
    assertThat(report.path("since").asText()).isEqualTo("2026-01-31");
    assertThat(Instant.parse(report.path("until").asText())).isAfter(Instant.EPOCH);
  }

  @Test
  void aQuestionThatMakesNoSenseIsRefused() throws Exception {
    assertThat(PlainHttp.get(plain, "/api/v1/usage?by=planet")).isEqualTo(400);
    assertThat(PlainHttp.get(plain, "/api/v1/usage?since=24h")).isEqualTo(400);
  }

  /** The allocations that the API server holds are the other account of the same. */
  private Duration held() {
    AllocationStatus allocation = job.status().orElseThrow().allocation();
    Instant since = Instant.parse(allocation.since());
    Duration before = Duration.ofMillis(Math.round(1000 * allocation.held().gpuSeconds()));
    return before.plus(Duration.between(since, clock.instant()).multipliedBy(allocation.slots()));
  }

  private JsonNode assertSumIsWhatWasHeld() {
    Duration held;
    JsonNode row;
    // While it holds slots, no time may go by between both questions.
    try (MovableClock.Stop _ = clock.stop()) {
      held = held();
      row = row();
    }
    long sum = PARTS.stream().mapToLong(part -> row.path(part).asLong()).sum();
    assertThat(sum).isEqualTo(row.path("held").asLong());
    assertThat(sum).as("but for fractions of milliseconds").isCloseTo(held.toMillis(), within(9L));
    assertThat(row.path("costMicros").asLong())
        .as("half a millionth for each GPU-millisecond")
        .isBetween(sum / 2, (sum + 1) / 2);
    assertThat(row.path("unpriced").asLong()).isZero();
    return row;
  }

  /** Price of the node of four slots in an hour. */
  private void price(String text) {
    job.client
        .nodes()
        .withName("n1")
        .edit(node ->
            new NodeBuilder(node)
                .editMetadata()
                .addToAnnotations(NodeTraits.PRICE, text)
                .endMetadata()
                .build());
  }

  private void allocate(int replicas) {
    allocations.write(
        job.resource().get(),
        Allocation.on("n1", replicas),
        null,
        Reason.of("Test", "The test wants it so."));
  }

  private long part(String name) {
    return row().path(name).asLong();
  }

  private JsonNode row() {
    try {
      JsonNode rows =
          new ObjectMapper().readTree(PlainHttp.text(plain, "/api/v1/usage?by=user")).path("rows");
      return StreamSupport.stream(rows.spliterator(), false)
          .filter(row -> row.path("name").asText().equals(job.name))
          .findFirst()
          .orElseThrow(() -> new AssertionError("no row of the job in " + rows));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  private String archived() {
    var stored = job.client.configMaps().inNamespace("default").withName("kastor-usage").get();
    return stored == null ? "" : stored.getData().get("usage.json");
  }

  private String pod(int index) {
    return job.pods().get(index).getMetadata().getName();
  }

  /** Replicas that train together. */
  private int trains() {
    return job.pods().stream()
        .flatMap(pod -> agents.membership(pod.getMetadata().getName()).stream())
        .mapToInt(membership -> membership.members().size())
        .max()
        .orElse(0);
  }
}
