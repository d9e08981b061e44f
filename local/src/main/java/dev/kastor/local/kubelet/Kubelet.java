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
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Places pods and runs their first container as a process.
 *
 * <p>Level-triggered: one thread compares all pods with all processes whenever a pod changes and at
 * least every 100 ms, and owns the processes. What goes wrong with one pod is that pod's: the
 * others are served all the same.
 */
public final class Kubelet implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Kubelet.class);
  private static final Duration PERIOD = Duration.ofMillis(100);
  private static final Duration LONGEST_PASS = Duration.ofSeconds(10);
  private static final Duration CLOSE_GRACE = Duration.ofSeconds(3);
  private static final Duration CLOSE_POLL = Duration.ofMillis(20);
  private static final int NOT_FOUND = 404;
  private static final int CONFLICT = 409;
  private static final String SPARES = "spares";
  private static final Set<String> ENDED = Set.of("Succeeded", "Failed");

  private final Resources resources;
  private final Tokens tokens;
  private final Path podsFolder;
  private final Path logsFolder;
  private final EntryPoint entryPoint;
  private final PodVariables variables;
  private final SpareProcesses spares;
  private final Map<String, PodProcess> processes = new HashMap<>();
  private final Troubles troubles = new Troubles();
  private final Peers peers = new Peers();
  private final Map<String, Gpus> gpus = new HashMap<>();
  private final Thread thread;
  private volatile long lastPassNanos = System.nanoTime();
  private volatile boolean closing;

  private Kubelet(
      ApiServer server,
      Path podsFolder,
      Path logsFolder,
      EntryPoint entryPoint,
      PodVariables variables,
      SpareProcesses spares) {
    this.resources = server.resources();
    this.tokens = server.tokens();
    this.podsFolder = podsFolder;
    this.logsFolder = logsFolder;
    this.entryPoint = entryPoint;
    this.variables = variables;
    this.spares = spares;
    this.thread = Thread.ofPlatform().name("kubelet").unstarted(this::run);
  }

  /**
   * Registers nodes and starts to run pods on them.
   *
   * @param podsFolder where pods get their folders
   * @param logsFolder where the output of pods goes, as {@code NAMESPACE/POD.log}
   * @param entryPoint of images
   * @param variables of this machine
   * @param spares how many processes of a kind wait for pods that they become; 0 for none
   */
  public static Kubelet start(
      ApiServer server,
      List<LocalNode> nodes,
      Path podsFolder,
      Path logsFolder,
      EntryPoint entryPoint,
      PodVariables variables,
      int spares)
      throws IOException {
    Leftovers.end(podsFolder);
    Kubelet kubelet =
        new Kubelet(
            server,
            podsFolder,
            logsFolder,
            entryPoint,
            variables,
            new SpareProcesses(spares, podsFolder, System::nanoTime));
    for (LocalNode node : nodes) {
      server.resources().create(ResourceTypes.NODE, "", node.object(), Options.PLAIN);
      if (!node.gpus().isEmpty()) {
        kubelet.gpus.put(node.name(), new Gpus(node.gpus()));
      }
    }
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
      if (!awaitGone(CLOSE_GRACE)) {
        processes.values().forEach(PodProcess::kill);
        awaitGone(CLOSE_GRACE);
      }
    } catch (InterruptedException e) {
      processes.values().forEach(PodProcess::kill);
      Thread.currentThread().interrupt();
    } finally {
      spares.close();
    }
  }

  /** Why pods are not looked after at this moment. */
  public Optional<String> failure() {
    Duration since = Duration.ofNanos(System.nanoTime() - lastPassNanos);
    return since.compareTo(LONGEST_PASS) > 0
        ? Optional.of("no pass over the pods was finished for %d s".formatted(since.toSeconds()))
        : Optional.empty();
  }

  private boolean awaitGone(Duration patience) throws InterruptedException {
    long end = System.nanoTime() + patience.toNanos();
    while (!processes.values().stream().allMatch(PodProcess::gone)) {
      if (System.nanoTime() > end) {
        return false;
      }
      Thread.sleep(CLOSE_POLL);
    }
    return true;
  }

  private void run() {
    while (!closing) {
      long revision = resources.revision();
      try {
        step();
        lastPassNanos = System.nanoTime();
        resources.awaitChange(ResourceTypes.POD, revision, PERIOD);
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  private void step() {
    Set<String> present = new HashSet<>();
    List<ObjectNode> pods = resources.list(ResourceTypes.POD, "");
    peers.keepOnly(pods);
    for (ObjectNode pod : pods) {
      present.add(Json.uid(pod));
      guarded(Json.uid(pod), pod, () -> bringForward(pod));
    }
    for (String uid : List.copyOf(processes.keySet())) {
      PodProcess process = processes.get(uid);
      if (process != null && !present.contains(uid)) {
        // Deleted without grace.
        present.add(uid);
        guarded(
            uid,
            null,
            () -> {
              process.kill();
              if (process.gone()) {
                forget(uid, process);
              }
            });
      }
    }
    present.add(SPARES);
    guarded(SPARES, null, spares::step);
    troubles.keepOnly(present);
  }

  /** Whatever a pod breaks, errors of the machine included, must not keep others from running. */
  private void guarded(String uid, @Nullable ObjectNode pod, Step step) {
    boolean deleted = pod == null || Json.meta(pod, "deletionTimestamp") != null;
    if (troubles.wait(uid) && !deleted) {
      return;
    }
    try {
      step.run();
      troubles.clear(uid);
    } catch (ApiException e) {
      if (e.code() == NOT_FOUND || e.code() == CONFLICT) {
        LOG.debug("a pod changed meanwhile: {}", e.getMessage());
      } else {
        troubles.add(uid, pod == null ? uid : Json.name(pod), String.valueOf(e.getMessage()));
      }
    } catch (NotStartable | IOException e) {
      troubles.add(uid, pod == null ? uid : Json.name(pod), String.valueOf(e.getMessage()));
    } catch (RuntimeException | Error e) {
      troubles.add(uid, pod == null ? uid : Json.name(pod), e.toString());
    }
  }

  private void bringForward(ObjectNode pod) throws IOException, NotStartable {
    if (!pod.at("/spec/nodeName").asText("").isEmpty()) {
      sync(pod);
    } else if (pod.at("/spec/schedulingGates").isEmpty()) {
      place(pod);
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

  private void sync(ObjectNode pod) throws IOException, NotStartable {
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
      // What its first process leaves behind ends with it, as in a container.
      process.kill();
      if (process.gone()) {
        report(pod, PodStatus.ended(pod, process));
        LOG.info("{}: process {} ended with {}", Json.name(pod), process.pid(), process.exitCode());
        forget(uid, process);
      }
    } else if (process != null && deleted) {
      process.terminate(
          Duration.ofSeconds(pod.at("/metadata/deletionGracePeriodSeconds").asLong(0)));
    } else if (process != null && !pod.at("/status/phase").asText().equals("Running")) {
      report(pod, PodStatus.running(pod, process));
    }
  }

  private void forget(String uid, PodProcess process) throws IOException {
    forget(uid);
    PrivateFiles.delete(process.folder());
  }

  private void forget(String uid) throws IOException {
    processes.remove(uid);
    gpus.values().forEach(each -> each.giveBack(uid));
    tokens.revoke(uid);
    PrivateFiles.delete(podsFolder.resolve(uid));
  }

  private void start(ObjectNode pod) throws IOException, NotStartable {
    String uid = Json.uid(pod);
    try {
      PodProcess process = launch(pod, PrivateFiles.directory(podsFolder.resolve(uid)));
      processes.put(uid, process);
      LOG.info("{}: process {} started", Json.name(pod), process.pid());
      report(pod, PodStatus.running(pod, process));
    } catch (NotStartable e) {
      forget(uid);
      String why = String.valueOf(e.getMessage());
      if (e.ever()) {
        report(pod, PodStatus.neverStarted(pod, why));
      } else {
        report(pod, PodStatus.waiting(pod, why));
        throw e;
      }
    } catch (IOException | IllegalArgumentException e) {
      forget(uid);
      report(pod, PodStatus.waiting(pod, String.valueOf(e.getMessage())));
      throw e;
    }
  }

  private PodProcess launch(ObjectNode pod, Path folder) throws IOException, NotStartable {
    JsonNode container = onlyContainer(pod);
    Path terminationLog = PrivateFiles.touch(folder.resolve("termination-log"));
    Map<String, Path> paths =
        new LinkedHashMap<>(new PodVolumes(resources, tokens, pod, folder).materialise(container));
    paths.put(
        container.path("terminationMessagePath").asText("/dev/termination-log"), terminationLog);
    PodEnvironment environment = new PodEnvironment(resources, pod, paths);
    Map<String, String> ofPod = new LinkedHashMap<>();
    Gpus own = gpus.get(pod.at("/spec/nodeName").asText());
    if (own != null) {
      int count = Math.toIntExact(Placement.slots(pod));
      ofPod.put("CUDA_VISIBLE_DEVICES", String.join(",", own.take(Json.uid(pod), count)));
    }
    ofPod.putAll(environment.of(container));
    List<String> command = command(container);
    variables.of(ofPod, command).forEach(ofPod::putIfAbsent);
    peers.localise(pod, ofPod);
    PodCommand toRun =
        new PodCommand(
            Json.namespace(pod),
            container.path("command").isEmpty(),
            command,
            ofPod,
            folder,
            environment.workingDirectory(container).orElse(folder),
            log(logsFolder, Json.namespace(pod), Json.name(pod)),
            terminationLog);
    Optional<PodProcess> spare = spares.take(toRun);
    return spare.isPresent() ? spare.get() : PodProcess.start(toRun);
  }

  private static JsonNode onlyContainer(ObjectNode pod) throws NotStartable {
    int containers = pod.at("/spec/containers").size();
    int before = pod.at("/spec/initContainers").size();
    if (containers != 1 || before != 0) {
      throw NotStartable.ever(
          "it has %d containers and %d init containers. Local mode runs one process a pod: leave out all but the container that trains"
              .formatted(containers, before));
    }
    return pod.at("/spec/containers/0");
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

  /** Something done to one pod. */
  @FunctionalInterface
  private interface Step {
    void run() throws IOException, NotStartable;
  }
}
