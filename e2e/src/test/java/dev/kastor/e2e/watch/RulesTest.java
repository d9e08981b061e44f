package dev.kastor.e2e.watch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.queue.Queue;
import dev.kastor.crds.trainingjob.TrainingJob;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class RulesTest {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  private final Map<String, Pod> pods = new HashMap<>();
  private final Map<String, TrainingJob> jobs = new HashMap<>();
  private final Map<String, Node> nodes = new HashMap<>();
  private final Map<String, Queue> queues = new HashMap<>();
  private final Set<String> userDeleted = new HashSet<>();
  private List<AgentProcess> processes = List.of();
  private Instant now = START;

  @Test
  void seesMoreReplicasOnANodeThanItHasGpus() {
    Rule rule = new GpusAreGivenOnce();
    node("alpha", 2);
    pod("a-0", "Running", "alpha", null);
    pod("a-1", "Succeeded", "alpha", null);
    job("u1", "{nextPod: 4, allocation: " + allocation(1, "{alpha: 3}") + "}");
    pod("a-2", "Pending", null, "alpha");
    assertThat(broken(rule)).isEmpty();

    pod("a-3", "Pending", null, "alpha");
    assertThat(broken(rule))
        .singleElement()
        .satisfies(finding -> assertThat(finding.evidence()).contains("3 GPUs of 2", "team/a-3"));
  }

  @Test
  void believesNodesOnlyOfPodsThatTheOperatorCanHaveMade() {
    Rule rule = new GpusAreGivenOnce();
    node("alpha", 1);
    pod("a-0", "Running", "alpha", null);
    pod("a-1", "Pending", null, "alpha");
    assertThat(broken(rule)).as("of a job that is not there").isEmpty();

    job("u1", "{nextPod: 1, allocation: " + allocation(1, "{alpha: 1}") + "}");
    assertThat(broken(rule)).as("with a number that nobody gave").isEmpty();
    job("u1", "{nextPod: 2, allocation: " + allocation(2, "{beta: 1}") + "}");
    assertThat(broken(rule)).as("meant for a node that the job has nothing on").isEmpty();
    job("u1", "{nextPod: 2, allocation: " + allocation(3, "{alpha: 1}") + "}");
    assertThat(broken(rule)).hasSize(1);
  }

  @Test
  void takesAKubeletThatStartsAnewToHaveItsGpusStill() {
    Rule rule = new GpusAreGivenOnce();
    node("alpha", 1);
    pod("a-0", "Running", "alpha", null);
    assertThat(broken(rule)).isEmpty();

    node("alpha", 0);
    assertThat(broken(rule)).isEmpty();
  }

  @Test
  void seesTwoProcessesOnOneDevice() {
    Rule rule = new DevicesAreHeldOnce();
    processes = List.of(process(1, "a-0", "fake-00"), process(2, "a-1", "fake-01"));
    assertThat(broken(rule)).isEmpty();

    processes = List.of(process(1, "a-0", "fake-00"), process(2, "a-1", "fake-00"));
    assertThat(broken(rule)).hasSize(1);
  }

  @Test
  void missesAJobThatItsUserHasNotDeleted() {
    Rule rule = new JobsStay();
    job("u1", "{phase: Running}");
    assertThat(broken(rule)).isEmpty();

    jobs.clear();
    assertThat(broken(rule)).as("his word may be on its way").isEmpty();
    now = START.plusSeconds(5);
    assertThat(broken(rule)).hasSize(1);
    userDeleted.add("team/a");
    assertThat(broken(rule)).isEmpty();
  }

  @Test
  void seesAJobThatEndedRunAgain() {
    Rule rule = new JobsStay();
    job("u1", "{phase: Succeeded}");
    assertThat(broken(rule)).isEmpty();

    job("u1", "{phase: Running}");
    assertThat(broken(rule)).hasSize(1);
  }

  @Test
  void seesVersionsAndGenerationsGoBack() {
    Rule rule = new NumbersGrow();
    job("u1", "{generation: 3, allocation: " + allocation(7, "{alpha: 1}") + "}");
    assertThat(broken(rule)).isEmpty();

    job("u1", "{generation: 2, allocation: " + allocation(6, "{alpha: 2}") + "}");
    assertThat(broken(rule)).extracting(Finding::rule).containsOnly("numbers never go back");
    assertThat(broken(rule)).hasSize(2);
  }

  @Test
  void seesTwoAllocationsOfOneVersion() {
    Rule rule = new NumbersGrow();
    job("u1", "{allocation: " + allocation(7, "{alpha: 1}") + "}");
    assertThat(broken(rule)).isEmpty();

    job("u1", "{allocation: " + allocation(7, "{beta: 1}") + "}");
    assertThat(broken(rule)).hasSize(1);
  }

  @Test
  void seesAQueueBeGivenMoreThanItsQuota() {
    Rule rule = new QuotasAreKept();
    queues.put(
        "q1",
        Serialization.unmarshal(
            """
            apiVersion: kastor.dev/v1alpha1
            kind: Queue
            metadata: {name: research, uid: q1}
            spec: {quota: {gpus: 2}}
            """,
            Queue.class));
    job("u1", "{allocation: " + allocation(1, "{alpha: 2}").replace("s: 1", "s: 2") + "}");
    assertThat(broken(rule)).isEmpty();

    job("u1", "{allocation: " + allocation(2, "{alpha: 3}").replace("s: 1", "s: 3") + "}");
    assertThat(broken(rule)).isEmpty();
    now = START.plusSeconds(4);
    assertThat(broken(rule))
        .singleElement()
        .satisfies(finding -> assertThat(finding.evidence()).contains("3 GPUs of at most 2"));
  }

  @Test
  void hearsOfLostExamplesFromReplicasAndStatus() {
    Rule rule = new ExamplesCount();
    Pod pod = pod("a-0", "Succeeded", "alpha", null);
    lastWords(pod, "{\"kind\": \"COMPLETED\", \"lostOrRepeatedExamples\": 0}");
    assertThat(broken(rule)).isEmpty();

    lastWords(pod, "{\"kind\": \"COMPLETED\", \"lostOrRepeatedExamples\": 4}");
    job("u1", "{training: {lostOrRepeatedExamples: 4}}");
    assertThat(broken(rule)).hasSize(2);
  }

  @Test
  void bearsWhatIsLeftOverForAWhileOnly() {
    Rule rule = new NothingIsLeftOver(Duration.ofSeconds(90));
    pod("a-0", "Running", "alpha", null);
    processes = List.of(process(1, "b-0", "fake-00"));
    assertThat(broken(rule)).isEmpty();

    now = START.plusSeconds(91);
    assertThat(broken(rule))
        .extracting(Finding::subject)
        .containsExactlyInAnyOrder("pod team/a-0", "process 1");

    job("u1", "{}");
    processes = List.of();
    assertThat(broken(rule)).isEmpty();
  }

  private List<Finding> broken(Rule rule) {
    return rule.broken(new World(pods, jobs, nodes, queues, processes, userDeleted, now));
  }

  private void node(String name, int gpus) {
    nodes.put(
        name,
        new NodeBuilder()
            .withNewMetadata()
            .withName(name)
            .endMetadata()
            .withNewStatus()
            .withCapacity(Map.of(Pods.GPU, new Quantity(Integer.toString(gpus))))
            .endStatus()
            .build());
  }

  /** A replica of the job with uid u1 that holds one GPU. */
  private Pod pod(String name, String phase, @Nullable String node, @Nullable String meantFor) {
    Pod pod =
        new PodBuilder()
            .withNewMetadata()
            .withName(name)
            .withNamespace("team")
            .withUid(name)
            .addNewOwnerReference()
            .withKind("TrainingJob")
            .withUid("u1")
            .endOwnerReference()
            .endMetadata()
            .withNewSpec()
            .withNodeName(node)
            .addNewContainer()
            .withNewResources()
            .withLimits(Map.of(Pods.GPU, new Quantity("1")))
            .endResources()
            .endContainer()
            .endSpec()
            .withNewStatus()
            .withPhase(phase)
            .endStatus()
            .build();
    if (meantFor != null) {
      pod.getMetadata().setAnnotations(Map.of("kastor.dev/node", meantFor));
    }
    pods.put(name, pod);
    return pod;
  }

  private static void lastWords(Pod pod, String words) {
    pod.getStatus()
        .setContainerStatuses(
            new PodBuilder()
                .withNewStatus()
                .addNewContainerStatus()
                .withNewState()
                .withNewTerminated()
                .withMessage(words)
                .endTerminated()
                .endState()
                .endContainerStatus()
                .endStatus()
                .build()
                .getStatus()
                .getContainerStatuses());
  }

  private void job(String uid, String status) {
    jobs.put(
        uid,
        Serialization.unmarshal(
            """
            apiVersion: kastor.dev/v1alpha1
            kind: TrainingJob
            metadata: {name: a, namespace: team, uid: %s}
            spec: {queue: research}
            status: %s
            """
                .formatted(uid, status),
            TrainingJob.class));
  }

  private static String allocation(long version, String nodes) {
    return "{replicas: 1, version: %d, nodes: %s, since: '', reason: x, message: x}"
        .formatted(version, nodes);
  }

  private static AgentProcess process(long pid, String pod, String device) {
    return new AgentProcess(pid, "team/" + pod, "u1", "alpha", device);
  }
}
