package dev.kastor.operator;

import static dev.kastor.operator.TestBench.NAMESPACE;
import static dev.kastor.operator.TestBench.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.operator.allocation.AllocationWriter;
import dev.kastor.operator.kube.JobRecords;
import dev.kastor.operator.kube.PodName;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Member;
import dev.kastor.protocol.Membership;
import dev.kastor.protocol.ParameterServer;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Reason;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Taint;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.common.http.TestHTTPResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Jobs with parameter servers, over HTTP, with agents that are played. */
// What the test waits for is there; a null would fail it as it should.
@NullUnmarked
@QuarkusTest
@QuarkusTestResource(FakeApiServer.class)
class ServersIT {
  @Inject AllocationWriter allocations;
  @Inject JobRecords records;
  @Inject MovableClock clock;

  @TestHTTPResource(value = "/", tls = true)
  URI base;

  @TestHTTPResource("/")
  URI plain;

  private final TestBench bench = new TestBench();
  private FakeAgents agents;
  private AgentClient api;

  @BeforeEach
  void start() {
    String url = base.toString();
    api = new AgentClient(url.substring(0, url.length() - 1), FakeApiServer.certificate());
    agents = new FakeAgents(bench.client, api);
    bench.client.nodes().delete();
    bench.node("n1", 4);
    bench.node("n2", 4);
  }

  @AfterEach
  void end() {
    bench.clear();
    agents.close();
  }

  @Test
  void serversAreBesideTheReplicasAndCountForNothing() throws Exception {
    submit(2, "steps");
    allocate(2);
    await("two workers train", () -> members().size() == 2);
    assertThat(bench.allocated()).isEqualTo(2);
    assertThat(servers()).hasSize(2);
    assertThat(servers())
        .allSatisfy(pod -> {
          assertThat(pod.getMetadata().getLabels()).containsEntry("kastor.dev/role", "server");
          assertThat(pod.getSpec().getContainers().getFirst().getResources().getLimits()).isEmpty();
        });
    List<String> before = names(servers());
    assertThat(generation().serversOrNone())
        .extracting(ParameterServer::index, ParameterServer::pod)
        .containsExactly(tuple(0, before.get(0)), tuple(1, before.get(1)));
    assertThat(generation().members()).extracting(Member::pod).doesNotContainAnyElementsOf(before);
    await("it says Running", () -> bench.in(Phase.Running));
    allocate(4);
    await("four workers train", () -> members().size() == 4);
    allocate(1);
    await("one worker trains", () -> members().size() == 1);
    assertThat(names(servers())).as("kept over resizes").isEqualTo(before);
    assertThat(bench.status().orElseThrow().selector())
        .isEqualTo("kastor.dev/job=%s,kastor.dev/role!=server", bench.name);
    await("one slot is given", () -> metrics().contains("kastor_slots{state=\"allocated\",} 1.0"));
  }

  @Test
  void aServerThatDiesIsMadeAgainAndAllBeginWithIt() {
    submit(2, "steps");
    allocate(2);
    await("two workers train", () -> members().size() == 2);
    await("its progress is known", () -> bench.status().orElseThrow().training() != null);
    String died = names(servers()).get(1);
    String stays = names(servers()).get(0);
    long generation = generation().generation();
    Set<String> workers = members();
    agents.crash(NAMESPACE, died, 137);
    await(
        "a newer generation has another server 1",
        () ->
            generation().generation() > generation
                && generation().serversOrNone().stream().noneMatch(s -> s.pod().equals(died))
                && agents.membership(stays).filter(generation()::equals).isPresent());
    assertThat(members()).as("workers stay").isEqualTo(workers);
    assertThat(names(servers())).contains(stays).hasSize(2);
    ParameterServer next = generation().serversOrNone().get(1);
    assertThat(next.index()).isEqualTo(1);
    assertThat(next.address()).isEqualTo(next.pod() + ":1234");
    await("a restart is told of", () -> Integer.valueOf(1).equals(restarts()));
    await(
        "an event names it",
        () ->
            events().stream()
                .anyMatch(event ->
                    event.getReason().equals("ReplicaFailed")
                        && event.getMessage().contains(died)));
  }

  @Test
  void aServerThatCannotRunEndsTheJobAsAReplicaWould() {
    submit(1, "steps");
    allocate(1);
    for (int i = 0; i < 3; i++) {
      int died = i;
      await("a server runs", () -> bench.in(Phase.Failed) || runs() != null);
      if (runs() != null) {
        agents.mute(runs());
        agents.crash(NAMESPACE, runs(), 1);
      }
      await("it is gone", () -> bench.in(Phase.Failed) || failures() > died);
    }
    await("the job has failed", () -> bench.in(Phase.Failed));
    assertThat(bench.condition("Failed").getReason()).isEqualTo("TooManyFailures");
    assertThat(bench.condition("Failed").getMessage()).contains("server " + bench.name);
  }

  @Test
  void serversStopWithTheJobAndComeBackWithIt() {
    submit(1, "asynchronous");
    allocate(2);
    await("two workers train", () -> members().size() == 2);
    String before = names(servers()).getFirst();
    bench.suspend(true);
    await("it is suspended", () -> bench.in(Phase.Suspended));
    await("no pods are left", () -> bench.pods().isEmpty());
    assertThat(agents.ends().get(before)).startsWith("told to stop");
    bench.suspend(false);
    allocate(1);
    await("a worker trains", () -> members().size() == 1);
    assertThat(names(servers())).hasSize(1).doesNotContain(before);
  }

  @Test
  void whatTheFirstServerSaysIsTheJobs() throws Exception {
    agents.staleness(bench.name, List.of(5L, 3L, 0L, 1L));
    submit(2, "asynchronous");
    allocate(2);
    await("two workers train", () -> members().size() == 2);
    await("its progress is known", () -> bench.status().orElseThrow().training() != null);
    List<String> made = List.copyOf(agents.started());
    String worker = members().iterator().next();
    String second = names(servers()).get(1);
    for (String other : List.of(worker, second)) {
      HttpResponse<String> refused =
          api.post(
              path("telemetry"), FakeApiServer.token(NAMESPACE, bench.name, other), report(other));
      assertThat(refused.statusCode()).isEqualTo(403);
      assertThat(refused.body()).contains("parameter server 0").contains(other);
    }
    String first = names(servers()).get(0);
    HttpResponse<String> posing =
        api.get(
            path("membership") + "?pod=%s&address=a:1&phase=READY".formatted(first),
            FakeApiServer.token(NAMESPACE, bench.name, worker));
    assertThat(posing.statusCode()).as("no worker is a server").isEqualTo(403);
    String labels = "{namespace=\"team\",job=\"%s\"".formatted(bench.name);
    assertThat(text("/metrics"))
        .contains("kastor_job_staleness_updates_total%s,staleness=\"0\",} 5.0".formatted(labels))
        .contains("kastor_job_staleness_updates_total%s,staleness=\"3\",} 1.0".formatted(labels))
        .contains("kastor_job_dropped_copies_total%s,} 7.0".formatted(labels));
    assertThat(text("/api/v1/jobs/team/%s/history".formatted(bench.name)))
        .contains("\"staleness\":[5,3,0,1],\"droppedCopies\":7")
        .contains("{\"index\":0,\"pod\":\"%s\",\"node\":\"n1\",\"running\":true}".formatted(first));
    // Workers that end are made again if the first server says nothing for long.
    try (MovableClock.Stop _ = clock.stop()) {
      agents.complete(bench.name);
      await("it succeeds", () -> bench.in(Phase.Succeeded));
      assertThat(bench.status().orElseThrow().training().finalMetric()).isEqualTo(0.9);
      await("nothing runs", () -> bench.pods().stream().noneMatch(ServersIT::running));
      assertThat(agents.started()).as("none was made again").isEqualTo(made);
    }
  }

  @Test
  void anOperatorThatBeginsAnewFindsServersAndWorkers() {
    submit(2, "steps");
    allocate(2);
    await("two workers train", () -> members().size() == 2);
    Membership before = generation();
    List<String> made = List.copyOf(agents.started());
    records.close(bench.resource().get().getMetadata().getUid());
    int asked = agents.answered(before.serversOrNone().getFirst().pod());
    // It begins with whom it hears first, and has all of them together soon.
    await(
        "it knows all of them",
        () ->
            agents.answered(before.serversOrNone().getFirst().pod()) > asked + 3
                && generation().serversOrNone().equals(before.serversOrNone())
                && members().size() == 2);
    assertThat(generation().members()).isEqualTo(before.members());
    assertThat(agents.started()).as("none was made again").isEqualTo(made);
    // It knows them: a server that dies now is missed.
    agents.crash(NAMESPACE, before.serversOrNone().getFirst().pod(), 137);
    await(
        "all train with another one",
        () ->
            members().size() == 2 && !generation().serversOrNone().equals(before.serversOrNone()));
  }

  @Test
  void aServerLeavesANodeThatIsAboutToEnd() {
    submit(1, "steps");
    allocate("n2", 2);
    await("two workers train", () -> members().size() == 2);
    String before = names(servers()).getFirst();
    assertThat(servers().getFirst().getSpec().getNodeName()).isEqualTo("n1");
    bench
        .client
        .nodes()
        .withName("n1")
        .edit(node ->
            new NodeBuilder(node)
                .editOrNewSpec()
                .addToTaints(
                    new Taint("NoSchedule", "aws-node-termination-handler/spot-itn", null, null))
                .endSpec()
                .build());
    // Whatever happens next has the operator look at the job.
    allocate("n2", 1);
    await(
        "another is on the other node",
        () -> {
          List<Pod> now = servers();
          return now.size() == 1
              && !names(now).contains(before)
              && "n2".equals(now.getFirst().getSpec().getNodeName());
        });
    await(
        "the workers train with it",
        () ->
            generation().serversOrNone().stream()
                .map(ParameterServer::pod)
                .toList()
                .equals(names(servers())));
  }

  @Test
  void aJobWhoseServerNoNodeTakesSaysSo() {
    agents.unplaced(bench.name);
    submit(1, "steps");
    allocate(1);
    await(
        "its condition says so",
        () ->
            bench.status().filter(status -> status.conditions() != null).isPresent()
                && bench.condition("Stalled").getStatus().equals("True"));
    assertThat(bench.condition("Stalled").getMessage())
        .contains("-server0")
        .contains("Insufficient memory");
    agents.placed(bench.name);
    await("a worker trains", () -> members().size() == 1);
    await("nothing is stalled", () -> bench.condition("Stalled").getStatus().equals("False"));
  }

  private void submit(int servers, String mode) {
    bench.program(
        """
        "elastic": {"minReplicas": 1, "maxReplicas": 4},
        "training": {"sync": {"parameter-server": {"servers": %d, "mode": "%s"}}}
        """
            .formatted(servers, mode));
    // A round gives it one, on either node; what the test gives it comes after.
    await("it has slots", () -> bench.allocated() > 0);
  }

  private void allocate(int replicas) {
    allocate("n1", replicas);
  }

  private void allocate(String node, int replicas) {
    await(
        "the test's allocation is stored",
        () ->
            allocations.write(
                bench.resource().get(),
                Allocation.on(node, replicas),
                null,
                Reason.of("Test", "The test wants it so.")));
  }

  /** Pods of its servers that have not ended, by index. */
  private List<Pod> servers() {
    return bench.pods().stream()
        .filter(pod -> index(pod) >= 0 && running(pod))
        .sorted(Comparator.comparingInt(ServersIT::index))
        .toList();
  }

  private static int index(Pod pod) {
    return PodName.serverIndex(pod.getMetadata().getName()).orElse(-1);
  }

  private static boolean running(Pod pod) {
    return pod.getStatus() != null && "Running".equals(pod.getStatus().getPhase());
  }

  private static List<String> names(List<Pod> pods) {
    return pods.stream().map(pod -> pod.getMetadata().getName()).toList();
  }

  private String runs() {
    return servers().isEmpty() ? null : names(servers()).getFirst();
  }

  private int failures() {
    return bench.status().map(status -> status.failuresSinceProgress()).orElse(0);
  }

  private Integer restarts() {
    return bench.status().orElseThrow().restarts();
  }

  private List<Event> events() {
    return bench.client.v1().events().inNamespace(NAMESPACE).list().getItems();
  }

  /** The generation in which all its workers and servers are; one of none while they differ. */
  private Membership generation() {
    List<Optional<Membership>> seen =
        bench.pods().stream()
            .filter(ServersIT::running)
            .map(pod -> agents.membership(pod.getMetadata().getName()))
            .distinct()
            .toList();
    return seen.size() == 1 && seen.getFirst().isPresent()
        ? seen.getFirst().get()
        : new Membership(0, Membership.Action.WAIT, List.of(), new BatchPlan(1, 0));
  }

  private Set<String> members() {
    return generation().members().stream().map(Member::pod).collect(Collectors.toSet());
  }

  private String path(String what) {
    return "/v1/jobs/%s/%s/%s".formatted(NAMESPACE, bench.name, what);
  }

  private byte[] report(String pod) {
    return """
    {"namespace": "team", "job": "%s", "pod": "%s", "generation": 1, "sequence": 1000000,
     "replicas": 1, "batch": {"atomicBatchSize": 32, "accumulationSteps": 0}, "profiles": [],
     "progress": {"step": 1, "scaleInvariantSteps": 1, "totalScaleInvariantSteps": 100,
                  "examples": 32, "epoch": 0},
     "switches": []}
    """
        .formatted(bench.name, pod)
        .getBytes(UTF_8);
  }

  private String metrics() {
    try {
      return text("/metrics");
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private String text(String path) throws Exception {
    return HttpClient.newHttpClient()
        .send(
            HttpRequest.newBuilder(plain.resolve(path)).build(),
            HttpResponse.BodyHandlers.ofString())
        .body();
  }
}
