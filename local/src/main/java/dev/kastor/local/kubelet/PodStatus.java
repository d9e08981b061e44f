package dev.kastor.local.kubelet;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.local.api.Json;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** The statuses that a kubelet reports, as pure functions of the pod and what happened to it. */
final class PodStatus {
  private PodStatus() {}

  static ObjectNode unschedulable(String message) {
    ObjectNode status = Json.object().put("phase", "Pending");
    condition(status.putArray("conditions"), "PodScheduled", false, "Unschedulable", message);
    return status;
  }

  static ObjectNode waiting(ObjectNode pod, String message) {
    ObjectNode status = base(pod, "Pending", false);
    container(pod, status, false)
        .putObject("state")
        .putObject("waiting")
        .put("reason", "CreateContainerConfigError")
        .put("message", message);
    return status;
  }

  static ObjectNode running(ObjectNode pod, PodProcess process) {
    ObjectNode status = base(pod, "Running", true);
    status.put("startTime", seconds(process.started()));
    ObjectNode container = container(pod, status, true);
    container.put("containerID", "process://" + process.pid());
    container.putObject("state").putObject("running").put("startedAt", millis(process.started()));
    return status;
  }

  static ObjectNode ended(ObjectNode pod, PodProcess process) {
    return ended(
        pod, process.exitCode(), process.terminationMessage(), process.started(), process.pid());
  }

  /** A pod that can never be started, in the words of a kubelet whose runtime says so. */
  static ObjectNode neverStarted(ObjectNode pod, String message) {
    ObjectNode status = ended(pod, 128, message, Instant.now(), 0);
    ((ObjectNode) status.at("/containerStatuses/0/state/terminated")).put("reason", "StartError");
    return status;
  }

  /** A pod whose process is not there any more and left no trace. */
  static ObjectNode lost(ObjectNode pod, String message) {
    return ended(pod, 255, message, Instant.now(), 0);
  }

  private static ObjectNode ended(
      ObjectNode pod, int exitCode, String message, Instant started, long pid) {
    boolean good = exitCode == 0;
    ObjectNode status = base(pod, good ? "Succeeded" : "Failed", false);
    status.put("startTime", seconds(started));
    ObjectNode container = container(pod, status, false);
    container.put("containerID", "process://" + pid);
    ObjectNode terminated = container.putObject("state").putObject("terminated");
    terminated.put("exitCode", exitCode).put("reason", good ? "Completed" : "Error");
    terminated.put("startedAt", seconds(started)).put("finishedAt", seconds(Instant.now()));
    if (!message.isEmpty()) {
      terminated.put("message", message);
    }
    return status;
  }

  private static ObjectNode base(ObjectNode pod, String phase, boolean ready) {
    ObjectNode status = Json.object().put("phase", phase);
    status.put("hostIP", "127.0.0.1").put("podIP", "127.0.0.1");
    status.putArray("podIPs").addObject().put("ip", "127.0.0.1");
    ArrayNode conditions = status.putArray("conditions");
    condition(conditions, "PodScheduled", true, "", "");
    condition(conditions, "Initialized", true, "", "");
    condition(conditions, "ContainersReady", ready, "", "");
    condition(conditions, "Ready", ready, "", "");
    JsonNode old = pod.at("/status/conditions");
    for (JsonNode condition : conditions) {
      keepTransition((ObjectNode) condition, old);
    }
    return status;
  }

  private static void keepTransition(ObjectNode condition, JsonNode old) {
    for (JsonNode before : old) {
      if (before.path("type").equals(condition.path("type"))
          && before.path("status").equals(condition.path("status"))) {
        condition.set("lastTransitionTime", before.path("lastTransitionTime"));
      }
    }
  }

  private static void condition(
      ArrayNode list, String type, boolean status, String reason, String message) {
    ObjectNode condition =
        list.addObject().put("type", type).put("status", status ? "True" : "False");
    condition.put("lastTransitionTime", millis(Instant.now()));
    if (!reason.isEmpty()) {
      condition.put("reason", reason).put("message", message);
    }
  }

  private static ObjectNode container(ObjectNode pod, ObjectNode status, boolean ready) {
    JsonNode container = pod.at("/spec/containers/0");
    ObjectNode entry = status.putArray("containerStatuses").addObject();
    entry.put("name", container.path("name").asText());
    entry.put("image", container.path("image").asText()).put("imageID", "");
    entry.put("ready", ready).put("started", ready).put("restartCount", 0);
    return entry;
  }

  /** More than the seconds that a kubelet says: starts of replicas are measured by it. */
  private static String millis(Instant instant) {
    return instant.truncatedTo(ChronoUnit.MILLIS).toString();
  }

  private static String seconds(Instant instant) {
    return instant.truncatedTo(ChronoUnit.SECONDS).toString();
  }
}
