package dev.kastor.e2e.fault;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.crds.trainingjob.TrainingJobStatus.TrainingStatus;
import dev.kastor.e2e.cluster.Change;
import dev.kastor.e2e.cluster.Checkpoint;
import dev.kastor.e2e.cluster.Jobs;
import dev.kastor.e2e.cluster.Leader;
import dev.kastor.e2e.cluster.SlowStore;
import dev.kastor.e2e.suite.Await;
import dev.kastor.e2e.suite.InvariantViolation;
import dev.kastor.e2e.suite.Measurements;
import dev.kastor.e2e.suite.Progress;
import dev.kastor.e2e.watch.WatcherProcess;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;

/** A small set of jobs and the faults that it meets. */
final class FaultRun {
  /** From the end of the leader to another that answers agents. */
  static final String FAILOVER = "failover";

  /** The same where the other had itself just ended, and kubelet lets it wait. */
  static final String BOTH_ENDED = "failover without another operator that is ready";

  /** From the end of a node to the first step of a job that had replicas on it. */
  static final String NODE_LOSS = "node loss to training again";

  /** Kubernetes has to find the node lost, and a new operator has to start, before any job can. */
  static final String ALL_LOST = "loss of the node of all operators to training again";

  /** From the notice to a checkpoint of a job all of whose replicas have to go. */
  static final String DRAIN = "drain notice to checkpoint";

  /** All jobs are in it, and want more than it has. */
  static final String QUEUE = "faults";

  private static final Duration PATIENCE = Duration.ofMinutes(15);
  private static final int FEWEST_SECONDS = 3;
  private static final int MOST_SECONDS = 10;

  private final KubernetesClient client;
  private final String system;
  private final String team;
  private final WatcherProcess watcher;
  private final Measurements measured;
  private final SlowStore store;
  private final Jobs jobs;
  private final Leader leader;

  FaultRun(
      KubernetesClient client,
      String system,
      String team,
      SlowStore store,
      WatcherProcess watcher,
      Measurements measured) {
    this.client = client;
    this.system = system;
    this.team = team;
    this.store = store;
    this.watcher = watcher;
    this.measured = measured;
    jobs = new Jobs(client, team);
    leader = new Leader(client, system);
  }

  /** Trains, suffers, and sees all jobs succeed. */
  void survive(int run, List<Fault> faults, Random random) throws Exception {
    int before = watcher.violations().size();
    List<String> names = List.of("mlp-" + run, "lm-" + run);
    try {
      // Four GPUs at the least, which is what one node has: no job waits for a node that is off.
      // They last for minutes at the rate of the store, so that each fault finds them at work.
      store.takeTime();
      submit(names.getFirst(), "glyph-mlp", 200, 2, 1, 64, 16, 4_000);
      submit(names.getLast(), "byte-lm", 16, 1, 2, 16, 4, 800);
      for (String name : names) {
        until(name + " trains", () -> jobs.step(name) > 0);
      }
      Ground ground = new Ground(client, system, team, random);
      for (Fault fault : faults) {
        Thread.sleep(ground.random().nextInt(FEWEST_SECONDS * 1000, MOST_SECONDS * 1000));
        suffer(fault, ground, names);
      }
      store.hurry();
      for (String name : names) {
        until(name + " succeeds", () -> ended(name));
        assertThat(jobs.get(name).getStatus().phase()).as(name).isEqualTo(Phase.Succeeded);
        TrainingStatus end = jobs.training(name).orElseThrow();
        InvariantViolation.unless(
            () -> assertThat(end.lostOrRepeatedExamples()).as("audit of " + name).isZero());
      }
      note(names);
    } finally {
      for (String name : names) {
        watcher.deleting(team, name);
        client.resources(TrainingJob.class).inNamespace(team).withName(name).delete();
      }
    }
    until("all pods are gone and all nodes are there", this::isWhole);
    List<String> violations = watcher.violations();
    InvariantViolation.unless(() ->
        assertThat(violations.subList(before, violations.size()))
            .as("what the watcher saw")
            .isEmpty());
  }

  private void suffer(Fault fault, Ground ground, List<String> names) throws Exception {
    // The fault before may have been its restart.
    until("the API server answers", () -> client.namespaces().withName(team).get() != null);
    Set<String> hit = names.stream().filter(name -> !ended(name)).collect(Collectors.toSet());
    List<Pod> replicas = ground.replicas();
    List<String> operators = ground.operators();
    boolean standby = ground.readyOperators() > 1;
    Instant begun = Instant.now();
    Optional<Wound> struck = fault.strike(ground);
    if (struck.isEmpty()) {
      Progress.say(fault + ": there was nothing that it could happen to");
      return;
    }
    Wound wound = struck.get();
    Progress.say(fault + ": " + wound.what());
    try {
      feel(fault, wound, hit, replicas, operators, standby, begun);
      Duration left = wound.lasts().minus(Duration.between(begun, Instant.now()));
      if (left.isPositive()) {
        Thread.sleep(left);
      }
    } finally {
      wound.mend().run();
    }
  }

  /** Measures how the cluster takes it. */
  private void feel(
      Fault fault,
      Wound wound,
      Set<String> hit,
      List<Pod> replicas,
      List<String> operators,
      boolean standby,
      Instant begun)
      throws Exception {
    switch (fault) {
      case OPERATOR_KILLED -> {
        until("a leader answers", leader::answers);
        measured.add(
            standby ? FAILOVER : BOTH_ENDED, wound.what(), Duration.between(begun, Instant.now()));
      }
      case NODE_OFF -> {
        hit.retainAll(jobsOn(wound.node(), replicas));
        boolean leads = operators.stream().anyMatch(node -> !node.equals(wound.node()));
        for (String name : hit) {
          if (!allTrained(name, replicas, begun)) {
            Progress.say(
                "%s had a replica that did not train yet: it may go on as it is".formatted(name));
            continue;
          }
          trainsWithout(wound.node(), name, begun, leads ? NODE_LOSS : ALL_LOST);
        }
      }
      case NODE_DRAINED -> {
        // Replicas that stay elsewhere keep what is trained; only a job without one has to save.
        replicas.stream()
            .filter(pod -> !wound.node().equals(pod.getSpec().getNodeName()))
            .forEach(pod -> hit.remove(job(pod)));
        for (String name : hit) {
          saved(name, begun);
        }
      }
      default -> {}
    }
  }

  /**
   * Returns whether all replicas of a job trained at a time: without one that did not, it goes on.
   */
  private boolean allTrained(String name, List<Pod> replicas, Instant then) throws IOException {
    long count = replicas.stream().filter(pod -> job(pod).equals(name)).count();
    return Change.of(team, name).stream()
        .filter(change -> !change.at().isAfter(then))
        .reduce((earlier, later) -> later)
        .filter(change -> change.after() == count)
        .isPresent();
  }

  private void trainsWithout(String node, String name, Instant begun, String what)
      throws Exception {
    until(
        "%s trains again without %s".formatted(name, node),
        () -> ended(name) || trainedSince(name, begun).isPresent());
    Optional<Change> change = trainedSince(name, begun);
    if (change.isPresent()) {
      measured.add(what, name, Duration.between(begun, change.get().at()));
    }
  }

  private void saved(String name, Instant begun) throws IOException {
    Optional<Instant> saved = Checkpoint.since(jobs.get(name), begun);
    if (saved.isPresent()) {
      measured.add(DRAIN, name, Duration.between(begun, saved.get()));
    } else if (!ended(name)) {
      throw new AssertionError(
          "%s has no whole checkpoint since its node was drained at %s".formatted(name, begun));
    }
  }

  private static Set<String> jobsOn(String node, List<Pod> replicas) {
    return replicas.stream()
        .filter(pod -> node.equals(pod.getSpec().getNodeName()))
        .map(FaultRun::job)
        .collect(Collectors.toSet());
  }

  private static String job(Pod pod) {
    return pod.getMetadata().getLabels().getOrDefault("kastor.dev/job", "");
  }

  private Optional<Change> trainedSince(String name, Instant begun) throws IOException {
    return Change.of(team, name).stream().filter(change -> change.at().isAfter(begun)).findFirst();
  }

  /** How the replicas lived it. */
  private void note(List<String> names) throws IOException {
    for (String name : names) {
      for (Change change : Change.of(team, name)) {
        switch (change.cause()) {
          case "RESCALE" -> measured.add("pause of a rescale", name, change.pause());
          case "FAILURE" -> measured.add("pause after a failure", name, change.pause());
          default ->
              Progress.say(
                  "%s started with %d replicas at %s".formatted(name, change.after(), change.at()));
        }
      }
    }
  }

  private boolean ended(String name) {
    return jobs.in(Phase.Succeeded, name) || jobs.in(Phase.Failed, name);
  }

  private boolean isWhole() {
    boolean ready =
        client.nodes().list().getItems().stream().allMatch(FaultRun::isReady)
            && client.nodes().list().getItems().size() >= 1;
    return ready && client.pods().inNamespace(team).list().getItems().isEmpty();
  }

  private static boolean isReady(Node node) {
    return node.getStatus().getConditions().stream()
            .anyMatch(condition ->
                "Ready".equals(condition.getType()) && "True".equals(condition.getStatus()))
        && node.getStatus().getAllocatable().containsKey("nvidia.com/gpu")
        && node.getStatus().getAllocatable().get("nvidia.com/gpu").getNumericalAmount().signum()
            > 0;
  }

  private void submit(
      String name,
      String program,
      int examplesPerSecond,
      int fewest,
      int slotsPerReplica,
      int batch,
      int smallest,
      int steps) {
    String yaml =
        """
        apiVersion: kastor.dev/v1alpha1
        kind: TrainingJob
        metadata: {name: %s, namespace: %s}
        spec:
          program:
            name: %s
          queue: %s
          elastic: {minReplicas: %d, maxReplicas: 4, slotsPerReplica: %d}
          checkpoint: {intervalSeconds: 20}
          goodput:
            batchSize: {initial: %d, max: %d, perDevice: {min: %d, max: %d}}
            learningRate: {base: "0.002", scaling: SquareRoot}
            work: {steps: %d}
        """
            .formatted(
                name,
                team,
                program,
                QUEUE,
                fewest,
                slotsPerReplica,
                batch,
                batch * 8,
                smallest,
                batch * 4,
                steps);
    client
        .resources(TrainingJob.class)
        .inNamespace(team)
        .resource(Serialization.unmarshal(store.feed(yaml, examplesPerSecond), TrainingJob.class))
        .create();
  }

  private void until(String what, Callable<Boolean> condition) throws Exception {
    Await.until(what, PATIENCE, this::describe, condition);
  }

  private String describe() {
    try {
      return jobs.describe();
    } catch (KubernetesClientException e) {
      return "the API server does not answer: " + e.getMessage();
    }
  }
}
