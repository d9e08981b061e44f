package dev.kastor.operator;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.NullUnmarked;

/** Submits one job to the fake API server and watches it. */
// As in the operator's tests: a null would fail the test as it should.
@NullUnmarked
final class TestBench {
  static final String NAMESPACE = "team";
  private static final String PROGRAM =
      """
      "program": {"name": "glyph-mlp"},
      "faultTolerance": {"maxRestarts": 2, "backoffSeconds": 0, "maxBackoffSeconds": 1},
      "goodput": {"batchSize": {"initial": 32}, "learningRate": {"base": "0.1"},
                  "work": {"epochs": 1}}
      """;

  final KubernetesClient client = FakeApiServer.client();
  final String name;

  TestBench() {
    this("job" + System.nanoTime());
  }

  TestBench(String name) {
    this.name = name;
  }

  /** A node of this name with so many slots. */
  void node(String node, int slots) {
    client
        .nodes()
        .resource(
            new NodeBuilder()
                .withNewMetadata()
                .withName(node)
                .addToLabels("kubernetes.io/hostname", node)
                .endMetadata()
                .withNewStatus()
                .withAllocatable(Map.of("kastor.dev/slot", new Quantity("" + slots)))
                .endStatus()
                .build())
        .createOr(existing -> existing.update());
  }

  /** Submits a job of a program with these further fields of its spec, as JSON. */
  void program(String fields) {
    submit("", PROGRAM + (fields.isEmpty() ? "" : ", ") + fields);
  }

  /**
   * Submits a job.
   *
   * @param metadata further fields of its metadata, each followed by a comma
   * @param spec the fields of its spec
   */
  void submit(String metadata, String spec) {
    TrainingJob job =
        Serialization.unmarshal(
            """
            {"apiVersion": "kastor.dev/v1alpha1", "kind": "TrainingJob",
             "metadata": {%s "name": "%s", "namespace": "%s"}, "spec": {%s}}
            """
                .formatted(metadata, name, NAMESPACE, spec),
            TrainingJob.class);
    client.resources(TrainingJob.class).inNamespace(NAMESPACE).resource(job).create();
  }

  void suspend(boolean suspend) {
    resource()
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"spec\": {\"suspend\": %s}}".formatted(suspend));
  }

  Resource<TrainingJob> resource() {
    return client.resources(TrainingJob.class).inNamespace(NAMESPACE).withName(name);
  }

  Optional<TrainingJobStatus> status() {
    return Optional.ofNullable(resource().get()).map(TrainingJob::getStatus);
  }

  boolean in(Phase phase) {
    return status().filter(status -> status.phase() == phase).isPresent();
  }

  int allocated() {
    return status()
        .map(TrainingJobStatus::allocation)
        .map(TrainingJobStatus.AllocationStatus::replicas)
        .orElse(0);
  }

  Condition condition(String type) {
    return status().orElseThrow().conditions().stream()
        .filter(condition -> type.equals(condition.getType()))
        // The mock server appends to lists where a merge patch replaces them.
        .reduce((first, last) -> last)
        .orElseThrow();
  }

  List<Pod> pods() {
    return client.pods().inNamespace(NAMESPACE).withLabel("kastor.dev/job", name).list().getItems();
  }

  /** Removes the job and waits until nothing of it is left. */
  void clear() {
    resource().delete();
    await("no pods are left", () -> pods().isEmpty());
  }

  static void await(String what, BooleanSupplier condition) {
    long deadline = System.nanoTime() + Duration.ofMinutes(10).toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError("after ten minutes it is still not so that " + what);
      }
      try {
        Thread.sleep(20);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new AssertionError(e);
      }
    }
  }
}
