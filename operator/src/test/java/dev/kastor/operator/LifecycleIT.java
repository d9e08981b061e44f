package dev.kastor.operator;

import static dev.kastor.operator.TestBench.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.operator.leader.Awake;
import dev.kastor.operator.signal.Signals;
import dev.kastor.scheduler.model.JobId;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.common.http.TestHTTPResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How long jobs may wait, start, run and stay, and who says that they may. */
// What the test waits for is there; a null would fail it as it should.
@NullUnmarked
@QuarkusTest
@QuarkusTestResource(FakeApiServer.class)
class LifecycleIT {
  @TestHTTPResource(value = "/", tls = true)
  URI base;

  @Inject MovableClock clock;
  @Inject Awake awake;
  @Inject Signals signals;

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
  void removeJob() {
    bench.clear();
    agents.close();
  }

  @Test
  void failsWhenItWasActiveForTooLong() {
    bench.program("\"lifecycle\": {\"activeDeadlineSeconds\": 600}");
    await("it runs", () -> bench.in(Phase.Running));
    clock.advance(Duration.ofMinutes(10));
    awaitLooking("it fails", () -> bench.in(Phase.Failed));
    assertThat(bench.condition("Failed").getReason()).isEqualTo("ActiveDeadlineExceeded");
    assertThat(bench.condition("Failed").getMessage()).contains("activeDeadlineSeconds (600)");
    await("its slots are free", () -> bench.allocated() == 0);
    await("its pods are gone", () -> bench.pods().isEmpty());
  }

  @Test
  void whatOnlyTheOperatorCanKnowIsWrongFailsThatJobAndNoOther() {
    var bad = new TestBench("b".repeat(64));
    try {
      bad.program("");
      await("it fails", () -> bad.in(Phase.Failed));
      assertThat(bad.condition("Failed").getReason()).isEqualTo("InvalidSpec");
      assertThat(bad.condition("Failed").getMessage()).contains("at most 63 characters");
      bench.program("");
      await("another runs", () -> bench.in(Phase.Running));
    } finally {
      bad.resource().delete();
    }
  }

  @Test
  void suspensionStopsTheClock() {
    bench.program("\"lifecycle\": {\"activeDeadlineSeconds\": 600}");
    await("it runs", () -> bench.in(Phase.Running));
    bench.suspend(true);
    await("it is suspended", () -> bench.in(Phase.Suspended));
    clock.advance(Duration.ofMinutes(20));
    bench.suspend(false);
    await("it runs again", () -> bench.in(Phase.Running));
    assertThat(bench.status().orElseThrow().suspendedSeconds()).isGreaterThanOrEqualTo(1200);
    clock.advance(Duration.ofMinutes(10));
    awaitLooking("it fails", () -> bench.in(Phase.Failed));
    assertThat(bench.condition("Failed").getReason()).isEqualTo("ActiveDeadlineExceeded");
  }

  @Test
  void failsWhenItWaitedForTooLong() {
    bench.program(
        """
        "elastic": {"minReplicas": 5, "maxReplicas": 5}, "lifecycle": {"queueDeadlineSeconds": 600}
        """);
    await("it waits", () -> bench.in(Phase.Queued));
    clock.advance(Duration.ofSeconds(601));
    awaitLooking("it fails", () -> bench.in(Phase.Failed));
    assertThat(bench.condition("Failed").getReason()).isEqualTo("QueueDeadlineExceeded");
    assertThat(bench.pods()).isEmpty();
  }

  @Test
  void triesToStartAgainAndGivesUpWithThePodsOwnReason() {
    agents.refuse(bench.name);
    bench.program("\"lifecycle\": {\"startDeadlineSeconds\": 60, \"startAttempts\": 2}");
    await("it has slots, and a pod that cannot start", () -> bench.pods().size() == 1);
    passUntil(
        "the first start is given up",
        () ->
            bench
                .status()
                .filter(status -> Integer.valueOf(1).equals(status.failedStarts()))
                .isPresent());
    passUntil("it fails", () -> bench.in(Phase.Failed));
    assertThat(bench.condition("Failed").getReason()).isEqualTo("StartDeadlineExceeded");
    assertThat(bench.condition("Failed").getMessage())
        .contains("attempt 2 of 2")
        .contains("ImagePullBackOff: Back-off pulling image");
    await("its pods are gone", () -> bench.pods().isEmpty());
  }

  @Test
  void isDeletedAfterItsTimeToLive() {
    bench.program("\"lifecycle\": {\"ttlSecondsAfterFinished\": 600}");
    await("it runs", () -> bench.in(Phase.Running));
    agents.complete(bench.name);
    await("it succeeds", () -> bench.in(Phase.Succeeded));
    try (MovableClock.Stop _ = clock.stop()) {
      clock.advance(
          Duration.between(
              clock.instant(),
              Instant.parse(bench.status().orElseThrow().completionTime()).plusSeconds(599)));
      look();
      runsOneThatCameLater();
      assertThat(bench.resource().get()).as("before its time").isNotNull();
      clock.advance(Duration.ofSeconds(1));
      awaitLooking("it is gone", () -> bench.resource().get() == null);
    }
    await("its pods are gone", () -> bench.pods().isEmpty());
  }

  @Test
  void leavesJobsOfOthersAlone() {
    bench.program("\"managedBy\": \"kueue.x-k8s.io/multikueue\"");
    runsOneThatCameLater();
    assertThat(bench.status()).isEmpty();
    assertThat(bench.pods()).isEmpty();
  }

  @Test
  void waitsUntilKueueAdmitsIt() {
    bench.submit(
        // The annotation is what a tenant may say: it admits nobody.
        """
        "labels": {"kueue.x-k8s.io/queue-name": "night"},
        "annotations": {"kastor.dev/held-for-kueue": "true"},
        """,
        """
        "program": {"name": "glyph-mlp"},
        "goodput": {"batchSize": {"initial": 32}, "learningRate": {"base": "0.1"},
                    "work": {"epochs": 1}}
        """);
    await("it is suspended", () -> bench.in(Phase.Suspended));
    assertThat(bench.resource().get().getSpec().suspend()).isTrue();
    await(
        "that is remembered",
        () -> Boolean.TRUE.equals(bench.status().orElseThrow().heldForKueue()));
    assertThat(bench.condition("Suspended").getReason()).isEqualTo("HeldForKueue");
    assertThat(bench.condition("Suspended").getMessage()).contains("night");
    runsOneThatCameLater();
    assertThat(bench.pods()).isEmpty();
    bench.suspend(false);
    await("it runs", () -> bench.in(Phase.Running));
    bench.suspend(true);
    await("an eviction stops it", () -> bench.in(Phase.Suspended) && bench.pods().isEmpty());
  }

  /** Waits, and has the operator look at the job, which a clock that was moved does not. */
  private void awaitLooking(String what, BooleanSupplier condition) {
    await(
        what,
        () -> {
          look();
          return condition.getAsBoolean();
        });
  }

  /** Time goes by until it is so; starts count no time in which the operator stood still. */
  private void passUntil(String what, BooleanSupplier condition) {
    awaitLooking(
        what,
        () -> {
          clock.pass(Duration.ofSeconds(1), awake);
          return condition.getAsBoolean();
        });
  }

  private void look() {
    signals.job(new JobId(TestBench.NAMESPACE, bench.name));
  }

  /** The operator has decided on all jobs that there were, and done what it decided. */
  private static void runsOneThatCameLater() {
    var later = new TestBench();
    try {
      later.program("");
      await("a job that came later runs", () -> later.in(Phase.Running));
    } finally {
      later.clear();
    }
  }
}
