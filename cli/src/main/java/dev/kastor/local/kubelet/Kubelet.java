package dev.kastor.local.kubelet;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.local.api.ApiException;
import dev.kastor.local.api.ApiServer;
import dev.kastor.local.api.Deletion;
import dev.kastor.local.api.Json;
import dev.kastor.local.api.Options;
import dev.kastor.local.api.ResourceTypes;
import dev.kastor.local.api.Resources;
import dev.kastor.local.api.Tokens;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.StreamSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Places pods and runs their first container as a process.
 *
 * <p>Level-triggered: one thread compares all pods with all processes whenever a pod changes and at
 * least every 100 ms, and owns the processes.
 */
public final class Kubelet implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Kubelet.class);
  private static final Duration PERIOD = Duration.ofMillis(100);
  private static final Duration CLOSE_GRACE = Duration.ofSeconds(3);
  private static final Set<String> ENDED = Set.of("Succeeded", "Failed");

  private final Resources resources;
  private final Tokens tokens;
  private final Path podsFolder;
  private final Path logsFolder;
  private final EntryPoint entryPoint;
  private final Map<String, PodProcess> processes = new HashMap<>();
  private final Thread thread;
  private volatile boolean closing;

  private Kubelet(ApiServer server, Path podsFolder, Path logsFolder, EntryPoint entryPoint) {
    this.resources = server.resources();
    this.tokens = server.tokens();
    this.podsFolder = podsFolder;
    this.logsFolder = logsFolder;
    this.entryPoint = entryPoint;
    this.thread = Thread.ofPlatform().name("kubelet").unstarted(this::run);
  }

  /**
   * Registers nodes and starts to run pods on them.
   *
   * @param podsFolder where pods get their folders
   * @param logsFolder where the output of pods goes, as {@code NAMESPACE/POD.log}
   */
  public static Kubelet start(
      ApiServer server,
      List<LocalNode> nodes,
      Path podsFolder,
      Path logsFolder,
      EntryPoint entryPoint) {
    for (LocalNode node : nodes) {
      server.resources().create(ResourceTypes.NODE, "", node.object(), Options.PLAIN);
    }
    Kubelet kubelet = new Kubelet(server, podsFolder, logsFolder, entryPoint);
    kubelet.thread.start();
    return kubelet;
  }

  /** The log of a pod. */
  public static Path log(Path logsFolder, String namespace, String pod) {
    return logsFolder.resolve(namespace).resolve(pod + ".log");
  }

  /** Ends every process, those that do not listen by force. */
  @Override
  public void close() {
    closing = true;
    thread.interrupt();
    try {
      thread.join();
      processes.values().forEach(p -> p.terminate(CLOSE_GRACE));
      long end = System.nanoTime() + CLOSE_GRACE.toNanos();
      for (PodProcess process : processes.values()) {
        long left = Math.max(0, end - System.nanoTime());
        if (!process.awaitExit(Duration.ofNanos(left))) {
          process.kill();
        }
      }
    } catch (InterruptedException e) {
      processes.values().forEach(PodProcess::kill);
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    while (!closing) {
      long revision = resources.revision();
      try {
        step();
        resources.awaitChange(ResourceTypes.POD, revision, PERIOD);
      } catch (InterruptedException e) {
        return;
      } catch (ApiException e) {
        LOG.debug("a pod changed meanwhile: {}", e.getMessage());
      } catch (IOException e) {
        LOG.error("the kubelet cannot write its files: {}", e.getMessage());
      }
    }
  }

  private void step() throws IOException {
    Set<String> present = new HashSet<>();
    for (ObjectNode pod : resources.list(ResourceTypes.POD, "")) {
      present.add(Json.uid(pod));
      boolean gated = !pod.at("/spec/schedulingGates").isEmpty();
      if (pod.at("/spec/nodeName").asText("").isEmpty()) {
        if (!gated) {
          place(pod);
        }
      } else {
        sync(pod);
      }
    }
    for (String uid : List.copyOf(processes.keySet())) {
      PodProcess process = processes.get(uid);
      if (process != null && !present.contains(uid)) {
        // Deleted without grace.
        process.kill();
        if (!process.alive()) {
          forget(uid);
        }
      }
    }
  }

  private void place(ObjectNode pod) {
    Optional<String> node =
        Placement.choose(
            pod, resources.list(ResourceTypes.NODE, ""), resources.list(ResourceTypes.POD, ""));
    if (node.isPresent()) {
      ObjectNode bound = pod.deepCopy();
      ((ObjectNode) bound.get("spec")).put("nodeName", node.get());
      resources.update(
          ResourceTypes.POD, Json.namespace(pod), Json.name(pod), bound, Options.PLAIN);
    } else if (pod.at("/status/conditions").isEmpty()) {
      report(
          pod,
          PodStatus.unschedulable(
              "no node that the pod may use has %d free slots".formatted(Placement.slots(pod))));
    }
  }

  private void sync(ObjectNode pod) throws IOException {
    String uid = Json.uid(pod);
    PodProcess process = processes.get(uid);
    boolean ended = ENDED.contains(pod.at("/status/phase").asText());
    boolean deleted = Json.meta(pod, "deletionTimestamp") != null;
    if (process == null && deleted) {
      resources.delete(ResourceTypes.POD, Json.namespace(pod), Json.name(pod), Deletion.NOW);
    } else if (process == null && pod.at("/status/phase").asText().equals("Running")) {
      report(pod, PodStatus.lost(pod, "the process is gone: the node was restarted"));
    } else if (process == null && !ended) {
      start(pod);
    } else if (process != null && !process.alive()) {
      LOG.info("{}: process {} ended with {}", Json.name(pod), process.pid(), process.exitCode());
      report(pod, PodStatus.ended(pod, process));
      forget(uid);
    } else if (process != null && deleted) {
      process.terminate(
          Duration.ofSeconds(pod.at("/metadata/deletionGracePeriodSeconds").asLong(0)));
    }
  }

  private void forget(String uid) throws IOException {
    processes.remove(uid);
    tokens.revoke(uid);
    PrivateFiles.delete(podsFolder.resolve(uid));
  }

  private void start(ObjectNode pod) throws IOException {
    String uid = Json.uid(pod);
    Path folder = PrivateFiles.directory(podsFolder.resolve(uid));
    JsonNode container = pod.at("/spec/containers/0");
    Path terminationLog = PrivateFiles.touch(folder.resolve("termination-log"));
    try {
      Map<String, Path> paths =
          new LinkedHashMap<>(
              new PodVolumes(resources, tokens, pod, folder).materialise(container));
      paths.put(
          container.path("terminationMessagePath").asText("/dev/termination-log"), terminationLog);
      Map<String, String> environment = new PodEnvironment(resources, pod, paths).of(container);
      PodProcess process =
          PodProcess.start(
              command(container),
              environment,
              folder,
              log(logsFolder, Json.namespace(pod), Json.name(pod)),
              terminationLog);
      processes.put(uid, process);
      LOG.info("{}: process {} started", Json.name(pod), process.pid());
      report(pod, PodStatus.running(pod, process));
    } catch (NotStartable e) {
      tokens.revoke(uid);
      report(pod, PodStatus.waiting(pod, String.valueOf(e.getMessage())));
    }
  }

  private List<String> command(JsonNode container) {
    List<String> command = new ArrayList<>();
    if (container.path("command").isEmpty()) {
      command.addAll(entryPoint.command(container.path("image").asText()));
    }
    for (String field : List.of("command", "args")) {
      StreamSupport.stream(container.path(field).spliterator(), false)
          .map(JsonNode::asText)
          .forEach(command::add);
    }
    return command;
  }

  private void report(ObjectNode pod, ObjectNode status) {
    ObjectNode body = Json.object();
    body.set("status", status);
    resources.update(ResourceTypes.POD, Json.namespace(pod), Json.name(pod), body, Options.STATUS);
  }
}
