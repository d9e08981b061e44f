package dev.kastor.operator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.kube.StatusWriter;
import dev.kastor.operator.membership.MembershipService;
import dev.kastor.operator.signal.Mandate;
import dev.kastor.protocol.Membership;
import dev.kastor.protocol.ReplicaState;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.quarkus.test.common.QuarkusTestResourceLifecycleManager;
import io.quarkus.test.common.http.TestHTTPResource;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.QuarkusTestProfile;
import io.quarkus.test.junit.TestProfile;
import jakarta.inject.Inject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;
import org.assertj.core.api.Assertions;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;

// What the test waits for is there; a null would fail it as it should.
@NullUnmarked
@QuarkusTest
@TestProfile(LeaderIT.TwoOperators.class)
class LeaderIT {
  private static final String OTHER = "kastor-other";
  private static final String OWN = "kastor-own";
  private static final String LEASE = "kastor-test";
  private static final String KEY = "kastor.dev/leader";

  @Inject Mandate mandate;
  @Inject MembershipService membership;
  @Inject KubernetesClient fenced;
  @Inject StatusWriter statuses;

  @TestHTTPResource(value = "/", tls = true)
  URI agents;

  @TestHTTPResource("/")
  URI plain;

  /**
   * One story, for an operator cannot lose the lease without ending this process. How long it waits
   * for one that is silent is in ElectionTest; here the other gives the lease back.
   */
  @Test
  void standsByUntilTheOtherResignsAndThenLeads() throws Exception {
    KubernetesClient client = FakeApiServer.client();
    await("its cache is warm", () -> status(plain.resolve("/q/health/ready")) == 200);
    assertThat(mandate.leads()).isFalse();
    assertThat(status(plain.resolve("/metrics"))).isEqualTo(200);
    assertThat(status(plain.resolve("/api/v1/overview"))).isEqualTo(503);
    TrainingJob job =
        TestJobs.job("waiting", 1, 1, dev.kastor.crds.trainingjob.GoodputSpec.Mode.Fixed);
    job.getMetadata().setUid(null);
    job.getMetadata().setNamespace("team");
    client.resources(TrainingJob.class).inNamespace("team").resource(job).create();
    String poll = "/v1/jobs/team/waiting/membership?pod=waiting-0&phase=READY";
    AgentClient api =
        new AgentClient(agents.toString().replaceAll("/$", ""), FakeApiServer.certificate());
    var answer = api.get(poll, FakeApiServer.token("team", "waiting", "waiting-0"));
    assertThat(answer.statusCode()).isEqualTo(503);
    Assertions.assertThatThrownBy(
            () -> fenced.pods().inNamespace("default").withName(OTHER).delete())
        .isInstanceOf(KubernetesClientException.class)
        .hasMessageContaining("does not hold the lease");
    Assertions.assertThatThrownBy(
            () -> statuses.patch(stored(client), Map.of("failuresSinceProgress", 1)))
        .hasMessageContaining("does not hold the lease");
    assertThat(pods(client)).isEmpty();
    FakeApiServer.refuseLists(1);
    client
        .leases()
        .inNamespace("default")
        .withName(LEASE)
        .edit(lease -> new LeaseBuilder(lease).editSpec().withHolderIdentity("").endSpec().build());

    await("it leads", mandate::leads);
    await("the job gets its pod", () -> pods(client).size() == 1);
    assertThat(FakeApiServer.listsToRefuse()).as("lists refused to who begins to lead").isZero();
    await("the Service finds it", () -> labelled(client, OWN) && !labelled(client, OTHER));
    var lease = client.leases().inNamespace("default").withName(LEASE).get().getSpec();
    assertThat(lease.getHolderIdentity()).isEqualTo(OWN);
    assertThat(lease.getLeaseTransitions()).isEqualTo(8);
    assertThat(status(plain.resolve("/api/v1/overview"))).isEqualTo(200);
    assertThat(api.get(poll, FakeApiServer.token("team", "waiting", "waiting-0")).statusCode())
        .isEqualTo(200);
    endsPollsThatItHolds(api);
  }

  private void endsPollsThatItHolds(AgentClient api) throws Exception {
    String token = FakeApiServer.token("team", "waiting", "waiting-0");
    String poll =
        "/v1/jobs/team/waiting/membership?pod=waiting-0&address=10.0.0.9:7000&phase=READY&generation=0&wait=1";
    await("it may train", () -> said(api, poll, token).contains("\"RUN\""));
    TrainingJob job = stored(FakeApiServer.client());
    String pod = "waiting-0";
    ReplicaState trains = new ReplicaState(pod, "10.0.0.9:7000", 1, ReplicaState.Phase.TRAINING, 1);
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      // Longer than any test may take: it ends because the operator ends, not of itself.
      Future<Membership> held =
          threads.submit(() -> membership.poll(job, trains, Duration.ofHours(1)));
      // Whoever looks has the lock, which the poll gives up only to wait.
      await("it was heard", () -> trains.equals(membership.members(job).said().get(pod).state()));
      assertThat(held.isDone()).as("answered while nothing is new").isFalse();
      membership.end();
      assertThat(held.get().action()).isEqualTo(Membership.Action.WAIT);
    }
  }

  private static String said(AgentClient api, String path, String token) {
    try {
      return api.get(path, token).body();
    } catch (java.io.IOException e) {
      throw new java.io.UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static TrainingJob stored(KubernetesClient client) {
    return client.resources(TrainingJob.class).inNamespace("team").withName("waiting").get();
  }

  private static List<Pod> pods(KubernetesClient client) {
    return client.pods().inNamespace("team").list().getItems();
  }

  private static boolean labelled(KubernetesClient client, String pod) {
    var labels = client.pods().inNamespace("default").withName(pod).get().getMetadata().getLabels();
    return labels != null && "true".equals(labels.get(KEY));
  }

  private static int status(URI uri) {
    try {
      // An offer of HTTP/2 in the clear is sometimes answered with the end of the connection.
      return HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .build()
          .send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.discarding())
          .statusCode();
    } catch (java.io.IOException e) {
      throw new java.io.UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void await(String what, BooleanSupplier condition) throws InterruptedException {
    long end = System.nanoTime() + 600_000_000_000L;
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as(what).isLessThan(end);
      Thread.sleep(50);
    }
  }

  /**
   * An operator that finds the lease in the hands of another. Its times are so long that a machine
   * that stands still costs it no lease.
   */
  public static final class TwoOperators implements QuarkusTestProfile {
    @Override
    public List<TestResourceEntry> testResources() {
      return List.of(
          new TestResourceEntry(FakeApiServer.class), new TestResourceEntry(Taken.class));
    }

    @Override
    public boolean disableGlobalTestResources() {
      return true;
    }

    @Override
    public Map<String, String> getConfigOverrides() {
      return Map.of(
          "kastor.leader-election.enabled", "true",
          "kastor.leader-election.lease-name", LEASE,
          "kastor.leader-election.lease-duration", "2h",
          "kastor.leader-election.renew-deadline", "1h",
          "kastor.leader-election.retry-period", "200ms",
          "kastor.leader-election.pod-name", OWN);
    }
  }

  /** The lease and both pods as they are before the operator starts. */
  public static final class Taken implements QuarkusTestResourceLifecycleManager {
    @Override
    public int order() {
      return 100;
    }

    @Override
    public Map<String, String> start() {
      KubernetesClient client = FakeApiServer.client();
      var now = java.time.ZonedDateTime.now(java.time.ZoneOffset.UTC);
      client
          .leases()
          .resource(
              new LeaseBuilder()
                  .withNewMetadata()
                  .withNamespace("default")
                  .withName(LEASE)
                  .endMetadata()
                  .withNewSpec()
                  .withHolderIdentity(OTHER)
                  .withLeaseDurationSeconds(7200)
                  .withAcquireTime(now)
                  .withRenewTime(now)
                  .withLeaseTransitions(7)
                  .endSpec()
                  .build())
          .create();
      pod(client, OTHER, Map.of(KEY, "true"));
      pod(client, OWN, Map.of());
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
          .create();
      return Map.of();
    }

    private static void pod(KubernetesClient client, String name, Map<String, String> labels) {
      client
          .pods()
          .resource(
              new PodBuilder()
                  .withNewMetadata()
                  .withNamespace("default")
                  .withName(name)
                  .withLabels(labels)
                  .endMetadata()
                  .withNewSpec()
                  .endSpec()
                  .build())
          .create();
    }

    @Override
    public void stop() {}
  }
}
