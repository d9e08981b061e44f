package dev.kastor.e2e.scenario;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.queue.Queue;
import dev.kastor.crds.queue.QueueStatus;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.e2e.cluster.Jobs;
import dev.kastor.e2e.cluster.Namespaces;
import dev.kastor.e2e.suite.Await;
import dev.kastor.e2e.suite.SharesChart;
import dev.kastor.e2e.suite.StopAtFailure;
import dev.kastor.e2e.suite.Tidy;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ExtendWith;

/** Two teams share eight GPUs: what one lends, it gets back as soon as it wants it. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Order(6)
@Tag("never-retried")
@SharesChart
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@ExtendWith({StopAtFailure.class, Tidy.class})
final class QueueScenario {
  private static final String TEAM = "queue-team";
  private static final Duration SOON = Duration.ofMinutes(2);

  private final KubernetesClient client = new KubernetesClientBuilder().build();
  private final Jobs jobs = new Jobs(client, TEAM);

  @BeforeAll
  void install() throws Exception {
    Namespaces namespaces = new Namespaces(client);
    namespaces.restricted(TEAM);
    queue("vision", "{cohort: lab, quota: {gpus: 4, borrowingLimit: 2}}");
    queue("speech", "{cohort: lab, quota: {gpus: 4}}");
    queue("elsewhere", "{quota: {gpus: 4}, namespaces: [another-team]}");
  }

  @AfterAll
  void remove() throws Exception {
    client.resources(TrainingJob.class).inNamespace(TEAM).delete();
    client.resources(Queue.class).delete();
    client.close();
  }

  @Test
  @Order(1)
  @DisplayName("a queue borrows what its cohort leaves, up to its limit and no further")
  void borrows() throws Exception {
    for (int i = 0; i < 4; i++) {
      submit("vision-" + i, "vision", 2);
    }
    until("three of four jobs run", () -> running("vision-") == 3);
    until("the fourth waits for quota", () -> waiting("vision-", "WaitingForQuota") == 1);
    until("the queue says what it borrows", () -> uses("vision", 6) && borrows("vision", 2));
    until("the other says what it lent", () -> lends("speech", 2));
  }

  @Test
  @Order(2)
  @DisplayName("the owner gets what it lent as soon as it wants it")
  void givesBack() throws Exception {
    submit("speech", "speech", 4);
    until("the owner's job runs", () -> jobs.in(Phase.Running, "speech"));
    until("the borrower is within its quota", () -> uses("vision", 4) && borrows("vision", 0));
    assertThat(running("vision-")).isEqualTo(2);
    assertThat(jobs.running("speech")).hasSize(4);
  }

  @Test
  @Order(3)
  @DisplayName("a job says why its queue does not let it in")
  void saysWhy() throws Exception {
    submit("large", "speech", 9);
    submit("lost", "nowhere", 1);
    submit("foreign", "elsewhere", 1);
    until("one is too large", () -> isQueued("large", "ExceedsQuota"));
    until("one names no queue", () -> isQueued("lost", "QueueNotFound"));
    until("one may not be in its queue", () -> isQueued("foreign", "QueueNotAllowed"));
  }

  @Test
  @Order(4)
  @DisplayName("a queue on hold starts nothing, a drained one stops what runs, an open one goes on")
  void holds() throws Exception {
    stop("speech", "Hold");
    submit("late", "speech", 1);
    until("a job waits at the held queue", () -> isQueued("late", "QueueHeld"));
    assertThat(jobs.in(Phase.Running, "speech")).isTrue();
    stop("speech", "HoldAndDrain");
    until(
        "the queue is drained",
        () ->
            isQueued("speech", "QueueDrained")
                && jobs.pods("speech").isEmpty()
                && uses("speech", 0));
    until("the borrower takes what is free", () -> running("vision-") == 3);
    // It would take one of the four GPUs that the other needs.
    client.resources(TrainingJob.class).inNamespace(TEAM).withName("late").delete();
    stop("speech", "None");
    until("the owner's job runs again", () -> jobs.in(Phase.Running, "speech"));
  }

  private void queue(String name, String spec) {
    client
        .resource(
            """
            apiVersion: kastor.dev/v1alpha1
            kind: Queue
            metadata: {name: %s}
            spec: %s
            """
                .formatted(name, spec))
        .create();
  }

  private void stop(String name, String policy) {
    client
        .resources(Queue.class)
        .withName(name)
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"spec\": {\"stopPolicy\": \"%s\"}}".formatted(policy));
  }

  /** A gang that holds its GPUs until it is told to end. */
  private void submit(String name, String queue, int replicas) {
    TrainingJob job =
        Serialization.unmarshal(
            """
            apiVersion: kastor.dev/v1alpha1
            kind: TrainingJob
            metadata: {name: %s}
            spec:
              queue: %s
              elastic: {minReplicas: %d, maxReplicas: %d}
              template:
                spec:
                  terminationGracePeriodSeconds: 1
                  automountServiceAccountToken: false
                  securityContext: {runAsNonRoot: true, runAsUser: 65532, seccompProfile: {type: RuntimeDefault}}
                  containers:
                  - name: main
                    image: kastor.dev/e2e/pause:1
                    imagePullPolicy: IfNotPresent
                    securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
            """
                .formatted(name, queue, replicas, replicas),
            TrainingJob.class);
    client.resources(TrainingJob.class).inNamespace(TEAM).resource(job).create();
  }

  private long running(String prefix) {
    return client.resources(TrainingJob.class).inNamespace(TEAM).list().getItems().stream()
        .map(job -> job.getMetadata().getName())
        .filter(name -> name.startsWith(prefix) && jobs.in(Phase.Running, name))
        .count();
  }

  private long waiting(String prefix, String reason) {
    return client.resources(TrainingJob.class).inNamespace(TEAM).list().getItems().stream()
        .map(job -> job.getMetadata().getName())
        .filter(name -> name.startsWith(prefix) && isQueued(name, reason))
        .count();
  }

  private boolean isQueued(String name, String reason) {
    return jobs.in(Phase.Queued, name)
        && requireNonNull(jobs.status(name).orElseThrow().conditions()).stream()
            .filter(condition -> "Queued".equals(condition.getType()))
            .map(Condition::getReason)
            .anyMatch(reason::equals);
  }

  private boolean uses(String queue, int gpus) {
    return Optional.of(gpus).equals(status(queue).map(QueueStatus::gpusUsed));
  }

  private boolean borrows(String queue, int gpus) {
    return Optional.of(gpus).equals(status(queue).map(QueueStatus::gpusBorrowed));
  }

  private boolean lends(String queue, int gpus) {
    return Optional.of(gpus).equals(status(queue).map(QueueStatus::gpusLent));
  }

  private Optional<QueueStatus> status(String queue) {
    return Optional.ofNullable(client.resources(Queue.class).withName(queue).get())
        .map(Queue::getStatus);
  }

  private void until(String what, Callable<Boolean> condition) throws Exception {
    Await.until(
        what,
        SOON,
        () -> jobs.describe() + client.resources(Queue.class).list().getItems(),
        condition);
  }
}
