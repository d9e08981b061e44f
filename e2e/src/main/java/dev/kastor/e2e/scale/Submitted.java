package dev.kastor.e2e.scale;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.e2e.suite.Await;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.NonDeletingOperation;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

/** Jobs of many teams, created in bulk. */
record Submitted(KubernetesClient client, JobsSeen seen) {
  static final int TEAMS = 20;

  /** Makes the teams' namespaces. */
  void makeTeams() throws InterruptedException {
    Bulk.each(
        IntStream.range(0, TEAMS).boxed().toList(),
        number ->
            client
                .namespaces()
                .resource(
                    new io.fabric8.kubernetes.api.model.NamespaceBuilder()
                        .withNewMetadata()
                        .withName("team-" + number)
                        .endMetadata()
                        .build())
                .createOr(NonDeletingOperation::update));
  }

  /**
   * Creates jobs from many threads.
   *
   * @param prefix of their names
   * @return their names with namespaces, in the order of their numbers
   */
  List<String> create(String prefix, int count, int mostReplicas) throws InterruptedException {
    List<TrainingJob> jobs =
        IntStream.range(0, count).mapToObj(number -> job(prefix, number, mostReplicas)).toList();
    Bulk.each(jobs, this::create);
    return jobs.stream().map(Submitted::name).toList();
  }

  /** Removes all jobs and returns when none of their pods is left. */
  void clear(Duration limit) throws Exception {
    Bulk.each(seen.jobs(), job -> client.resource(job).delete());
    Await.until(
        "no job and no pod is left",
        limit,
        () -> seen.jobs().size() + " jobs are",
        () ->
            seen.jobs().isEmpty()
                && client
                    .pods()
                    .inAnyNamespace()
                    .withLabel("kastor.dev/job")
                    // One is enough to tell; tens of thousands would be read each time.
                    .list(new ListOptionsBuilder().withLimit(1L).build())
                    .getItems()
                    .isEmpty());
  }

  /** Creates one job. */
  void create(TrainingJob job) {
    try {
      client.resources(TrainingJob.class).resource(job).create();
    } catch (KubernetesClientException e) {
      // A request that was sent again because its answer got lost.
      if (e.getCode() != HttpURLConnection.HTTP_CONFLICT) {
        throw e;
      }
    }
    seen.created(name(job));
  }

  static String name(TrainingJob job) {
    return job.getMetadata().getNamespace() + "/" + job.getMetadata().getName();
  }

  static TrainingJob job(String prefix, int number, int mostReplicas) {
    return Serialization.unmarshal(
        """
        apiVersion: kastor.dev/v1alpha1
        kind: TrainingJob
        metadata: {name: %s-%05d, namespace: team-%d}
        spec:
          program: {name: glyph-mlp}
          elastic: {minReplicas: 1, maxReplicas: %d}
          goodput:
            batchSize: {initial: 64, max: 2048, perDevice: {min: 16, max: 512}}
            learningRate: {base: "0.05", scaling: AdaScale}
            work: {steps: 1000000}
        """
            .formatted(prefix, number, number % TEAMS, mostReplicas),
        TrainingJob.class);
  }
}
