package dev.kastor.e2e.watch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.queue.Queue;
import dev.kastor.crds.trainingjob.TrainingJob;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodCondition;
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
import org.junit.jupiter.api.Tag;
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
  void countsAllGpusOfAReplica() {
    Rule rule = new GpusAreGivenOnce();
    node("alpha", 4);
    pod("a-0", "Running", "alpha", null, 2);
    job("u1", "{nextPod: 3, allocation: " + allocation(1, "{alpha: 3}") + "}");
    pod("a-1", "Pending", null, "alpha", 2);
    assertThat(broken(rule)).isEmpty();

    pod("a-2", "Pending", null, "alpha", 2);
    assertThat(broken(rule))
        .singleElement()
        .satisfies(finding -> assertThat(finding.evidence()).contains("6 GPUs of 4"));
  }

  @Test
  void seesThatKubeSchedulerFindsNoRoomOnANodeThatIsWhole() {
    Rule rule = new SchedulerAgrees();
    node("alpha", 4);
    job("u1", "{nextPod: 2, allocation: " + allocation(1, "{alpha: 2}") + "}");
    refused(pod("a-1", "Pending", null, "alpha", 2), "1 Insufficient nvidia.com/gpu.");
    assertThat(broken(rule)).as("it may not know yet which pods have gone").isEmpty();

    now = START.plusSeconds(9);
    assertThat(broken(rule))
        .singleElement()
        .satisfies(
            finding -> assertThat(finding.evidence()).contains("2 GPUs of alpha", "Insufficient"));
    pod("a-1", "Running", "alpha", null, 2);
    assertThat(broken(rule)).isEmpty();
  }

  @Tag("slow")
  @Test
  void bearsThatANodeThatIsNotWholeTakesNoPods() {
    Rule rule = new SchedulerAgrees();
    node("alpha", 4);
    job("u1", "{nextPod: 3, allocation: " + allocation(1, "{alpha: 2}") + "}");
    assertThat(broken(rule)).isEmpty();

    refused(pod("a-1", "Pending", null, "alpha", 2), "1 Insufficient nvidia.com/gpu.");
    refused(pod("a-2", "Pending", null, "alpha", 2), "1 node(s) had untolerated taint.");
    node("alpha", 0);
    assertThat(broken(rule)).isEmpty();
    now = START.plusSeconds(60);
    assertThat(broken(rule)).as("its kubelet starts anew").isEmpty();
    node("alpha", 4);
    assertThat(broken(rule)).as("kube-scheduler has only just seen its GPUs").isEmpty();
    now = START.plusSeconds(69);
    assertThat(broken(rule)).extracting(Finding::subject).containsExactly("team/a-1");
  }

  @Test
  void seesAReplicaWithLessGpusThanItsAllocationSays() {
    Rule rule = new ReplicasAreWhole();
    job(
        "u1",
        "{allocation: "
            + allocation(1, "{alpha: 1}").replace("}, s", "}, slotsPerReplica: 2, s")
            + "}");
    processes = List.of(process(1, "a-0", "fake-00,fake-01"));
    assertThat(broken(rule)).isEmpty();

    processes = List.of(process(1, "a-0", "fake-00,fake-01"), process(2, "a-1", "fake-02"));
    assertThat(broken(rule))
        .singleElement()
        .satisfies(finding -> assertThat(finding.evidence()).contains("'fake-02'", "2 GPUs"));
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

    processes = List.of(process(1, "a-0", "fake-00,fake-01"), process(2, "a-1", "fake-01,fake-02"));
    assertThat(broken(rule)).extracting(Finding::subject).containsExactly("alpha fake-01");
  }

  @Tag("slow")
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

  @Tag("slow")
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
  void countsTheGpusOfAQueuesReplicas() {
    Rule rule = new QuotasAreKept();
    queues.put(
        "q1",
        Serialization.unmarshal(
            """
            apiVersion: kastor.dev/v1alpha1
            kind: Queue
            metadata: {name: research, uid: q1}
            spec: {quota: {gpus: 3}}
            """,
            Queue.class));
    job(
        "u1",
        "{allocation: "
            + allocation(1, "{alpha: 2}").replace("s: 1", "s: 2, slotsPerReplica: 2")
            + "}");
    assertThat(broken(rule)).isEmpty();
    now = START.plusSeconds(4);
    assertThat(broken(rule))
        .singleElement()
        .satisfies(finding -> assertThat(finding.evidence()).contains("4 GPUs of at most 3"));
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
            .withAllocatable(Map.of(Pods.GPU, new Quantity(Integer.toString(gpus))))
            .addNewCondition()
            .withType("Ready")
            .withStatus("True")
            .endCondition()
            .endStatus()
            .build());
  }

  /** A replica of the job with uid u1 that holds one GPU. */
  private Pod pod(String name, String phase, @Nullable String node, @Nullable String meantFor) {
    return pod(name, phase, node, meantFor, 1);
  }

  private Pod pod(
      String name, String phase, @Nullable String node, @Nullable String meantFor, int gpus) {
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
            .withLimits(Map.of(Pods.GPU, new Quantity(Integer.toString(gpus))))
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

  /** What kube-scheduler says of a pod that it finds no node for. */
  private static void refused(Pod pod, String why) {
    PodCondition condition = new PodCondition();
    condition.setType("PodScheduled");
    condition.setStatus("False");
    condition.setReason("Unschedulable");
    condition.setMessage("0/2 nodes are available: " + why);
    pod.getStatus().setConditions(List.of(condition));
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
