package dev.kastor.e2e.scale;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToLongFunction;

/** Cluster whose nodes and agents are played, with an operator beside it and the jobs of teams. */
final class PlayedCluster implements AutoCloseable {
  private static final String TEAM = "team-0";

  private final KubernetesClient client = new KubernetesClientBuilder().build();
  // Before whoever watches TrainingJobs: it brings their definition.
  private final Installed chart = new Installed(client);
  private final JobsSeen seen = new JobsSeen(client);
  private final Submitted submitted = new Submitted(client, seen);
  private final PlayedNodes nodes = new PlayedNodes(client);
  private final PlayedAgents agents;
  private final OperatorProcess operator;

  /**
   * A cluster without nodes, whose operator is not started yet.
   *
   * @param steps that a job takes, by its name
   * @param manner habits of the agents
   */
  PlayedCluster(ToLongFunction<String> steps, PlayedAgent.Manner manner) throws Exception {
    agents = new PlayedAgents(client, steps, manner);
    operator =
        new OperatorProcess(
            chart,
            client.getConfiguration(),
            client.getConfiguration().getMasterUrl(),
            Size.heap(),
            Map.of());
  }

  /** Makes the namespaces of teams, starts the operator and returns once it serves. */
  void start() throws Exception {
    submitted.makeTeams();
    operator.start();
    operator.awaitReady();
  }

  KubernetesClient client() {
    return client;
  }

  JobsSeen seen() {
    return seen;
  }

  Submitted submitted() {
    return submitted;
  }

  PlayedNodes nodes() {
    return nodes;
  }

  PlayedAgents agents() {
    return agents;
  }

  OperatorProcess operator() {
    return operator;
  }

  /** The namespace of the jobs that are known by a name alone. */
  String team() {
    return TEAM;
  }

  /** Creates a job that always has so many replicas. */
  void create(String name, int replicas, long steps) {
    submitted.create(
        Serialization.unmarshal(
            """
            apiVersion: kastor.dev/v1alpha1
            kind: TrainingJob
            metadata: {name: %s, namespace: %s}
            spec:
              program: {name: glyph-mlp}
              elastic: {minReplicas: %d, maxReplicas: %d}
              goodput:
                mode: Fixed
                batchSize: {initial: 64, perDevice: {min: 16, max: 64}}
                learningRate: {base: "0.05"}
                work: {steps: %d}
            """
                .formatted(name, TEAM, replicas, replicas, steps),
            TrainingJob.class));
  }

  Resource<TrainingJob> job(String name) {
    return client.resources(TrainingJob.class).inNamespace(TEAM).withName(name);
  }

  Optional<TrainingJobStatus> status(String job) {
    return Optional.ofNullable(job(job).get()).map(TrainingJob::getStatus);
  }

  /** Whether the job has so many replicas. */
  boolean allocated(String job, int replicas) {
    return status(job)
        .map(TrainingJobStatus::allocation)
        .filter(allocation -> allocation.replicas() == replicas)
        .isPresent();
  }

  /** Whether the job has so many replicas and has reported from a generation. */
  boolean trains(String job, int replicas) {
    return allocated(job, replicas)
        && status(job)
            .map(TrainingJobStatus::training)
            .filter(training -> training.globalBatch() > 0)
            .isPresent();
  }

  /** Deletes the jobs and returns when none of their pods is left. */
  void clear(Duration limit) throws Exception {
    submitted.clear(limit);
  }

  @Override
  public void close() {
    agents.close();
    operator.close();
    seen.close();
    client.close();
  }
}
