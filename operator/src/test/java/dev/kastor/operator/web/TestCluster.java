package dev.kastor.operator.web;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.time.Instant;
import java.util.Map;

/** Puts nodes and jobs into the API server of a test. */
record TestCluster(KubernetesClient client) {
  TestCluster node(String name, int slots) {
    client
        .resource(
            new NodeBuilder()
                .withNewMetadata()
                .withName(name)
                .addToLabels("kastor.dev/gpu-type", "cpu")
                .endMetadata()
                .withNewStatus()
                .withAllocatable(Map.of("kastor.dev/slot", new Quantity(String.valueOf(slots))))
                .endStatus()
                .build())
        .createOr(created -> created.update());
    return this;
  }

  /** Creates or replaces a job, its status included. */
  TrainingJob job(String name, String program, int min, int max, Instant created, String status) {
    return job(name, program, min, max, created, status, "{}");
  }

  /** The same with features of training, as YAML. */
  TrainingJob job(
      String name,
      String program,
      int min,
      int max,
      Instant created,
      String status,
      String training) {
    TrainingJob job =
        Serialization.unmarshal(
            """
            apiVersion: kastor.dev/v1alpha1
            kind: TrainingJob
            metadata: {name: %s, namespace: default, creationTimestamp: "%s"}
            spec:
              elastic: {minReplicas: %d, maxReplicas: %d}
              goodput:
                batchSize: {initial: 64, max: 1024}
                learningRate: {base: "0.05"}
                work: {epochs: 4}
              program: {name: %s}
              training: %s
            """
                .formatted(name, created, min, max, program, training),
            TrainingJob.class);
    job.setStatus(Serialization.unmarshal(status, TrainingJobStatus.class));
    var resource = client.resource(job);
    if (resource.get() == null) {
      resource.create();
    }
    return client.resource(job).updateStatus();
  }

  void deleteAll() {
    client.resources(TrainingJob.class).inAnyNamespace().delete();
    client.nodes().delete();
  }
}
