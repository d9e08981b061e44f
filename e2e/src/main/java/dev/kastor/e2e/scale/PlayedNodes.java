package dev.kastor.e2e.scale;

import dev.kastor.e2e.suite.Await;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.NonDeletingOperation;
import java.time.Duration;
import java.util.Map;
import java.util.stream.IntStream;

/** Nodes with GPUs of two types in racks of sixteen, which kwok plays. */
record PlayedNodes(KubernetesClient client) {
  static final int GPUS = 8;
  private static final int RACK = 16;
  private static final String[] TYPES = {"h200", "a100"};

  /** Makes so many, those of an earlier scenario among them, and returns when all are ready. */
  void make(int count) throws Exception {
    Bulk.each(
        IntStream.range(0, count).boxed().toList(),
        number ->
            put("node-%04d".formatted(number), TYPES[number / RACK % TYPES.length], GPUS, number));
    Await.until(
        "%d nodes are ready".formatted(count),
        Duration.ofMinutes(5),
        () -> ready() + " are",
        () -> ready() >= count);
  }

  /** Makes a node of a GPU type. */
  void put(String name, String gpuType, int gpus) {
    put(name, gpuType, gpus, 0);
  }

  /** Removes a node, if it is there. */
  void remove(String name) {
    client.nodes().withName(name).delete();
  }

  private void put(String name, String gpuType, int gpus, int number) {
    client
        .nodes()
        .resource(node(name, gpuType, gpus, number))
        .createOr(NonDeletingOperation::update);
  }

  private long ready() {
    return client.nodes().list().getItems().stream()
        .filter(node -> node.getSpec().getTaints().isEmpty())
        .filter(node ->
            node.getStatus().getConditions().stream()
                .anyMatch(condition ->
                    condition.getType().equals("Ready") && condition.getStatus().equals("True")))
        .count();
  }

  private static Node node(String name, String gpuType, int gpus, int number) {
    Map<String, Quantity> resources =
        Map.of(
            "cpu", new Quantity("96"),
            "memory", new Quantity("1Ti"),
            "pods", new Quantity("110"),
            "nvidia.com/gpu", new Quantity(Integer.toString(gpus)));
    return new NodeBuilder()
        .withNewMetadata()
        .withName(name)
        .withLabels(
            Map.of(
                "kubernetes.io/hostname",
                name,
                "kubernetes.io/os",
                "linux",
                "kastor.dev/gpu-type",
                gpuType,
                "kastor.dev/rack",
                "rack-" + number / RACK))
        .endMetadata()
        .withNewStatus()
        .withCapacity(resources)
        .withAllocatable(resources)
        .endStatus()
        .build();
  }
}
