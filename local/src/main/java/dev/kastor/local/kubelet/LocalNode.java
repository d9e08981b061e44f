package dev.kastor.local.kubelet;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.local.api.Json;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;

/**
 * A node that the kubelet pretends to be.
 *
 * @param name its name and host name
 * @param slots how many replicas it holds
 * @param devices GPUs or cores that these share; as many as slots where each has its own
 * @param gpuType what a slot is
 * @param gpus names of GPUs, one for each slot at least; empty if slots are no GPUs
 */
public record LocalNode(String name, int slots, int devices, String gpuType, List<String> gpus) {
  /** The resource that a replica asks one of. */
  public static final String SLOT = "kastor.dev/slot";

  private static final int MAX_PODS = 1000;

  public LocalNode {
    gpus = List.copyOf(gpus);
  }

  ObjectNode object() {
    ObjectNode node = Json.object();
    ObjectNode labels = Json.metadata(node).put("name", name).putObject("labels");
    labels.put("kubernetes.io/hostname", name).put("kastor.dev/gpu-type", gpuType);
    if (devices < slots) {
      labels.put("kastor.dev/slots-per-device", Double.toString((double) slots / devices));
    }
    ObjectNode status = node.putObject("status");
    for (String field : new String[] {"capacity", "allocatable"}) {
      status
          .putObject(field)
          .put(SLOT, Integer.toString(slots))
          .put("cpu", Integer.toString(Runtime.getRuntime().availableProcessors()))
          .put("pods", Integer.toString(MAX_PODS));
    }
    status.putArray("addresses").addObject().put("type", "InternalIP").put("address", "127.0.0.1");
    status
        .putArray("conditions")
        .addObject()
        .put("type", "Ready")
        .put("status", "True")
        .put("reason", "KubeletReady")
        .put("message", "the local kubelet runs")
        .put("lastTransitionTime", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
    return node;
  }
}
