package dev.kastor.local.kubelet;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.local.SmallDisk;
import dev.kastor.local.api.ApiServer;
import dev.kastor.local.api.Json;
import dev.kastor.local.api.Options;
import dev.kastor.local.api.ResourceTypes;
import dev.kastor.local.api.Resources;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** Program that fills the disk while a pod ends, and makes room again. */
final class KubeletOnFullDiskRun {
  private static final Duration PATIENCE = Duration.ofMinutes(10);

  private KubeletOnFullDiskRun() {}

  /** Argument: a folder on a disk of its own. */
  public static void main(String[] arguments) throws Exception {
    Path disk = Path.of(arguments[0]);
    Path gate = disk.resolve("gate");
    try (ApiServer server = ApiServer.start(0, (namespace, pod) -> disk.resolve(pod))) {
      server.persist(disk.resolve("objects.jsonl"), ResourceTypes.POD::equals);
      Resources resources = server.resources();
      try (Kubelet kubelet =
          Kubelet.start(
              server,
              List.of(new LocalNode("a", 2, 2, "cpu", List.of())),
              disk.resolve("pods"),
              disk.resolve("logs"),
              image -> List.of("sh", "-c", "until [ -e " + gate + " ]; do sleep 0.05; done"),
              PodVariables.NONE,
              0)) {
        create(resources, "first");
        await(resources, "first", "Running");
        long pid =
            Long.parseLong(
                resources
                    .get(ResourceTypes.POD, "default", "first")
                    .at("/status/containerStatuses/0/containerID")
                    .asText()
                    .substring("process://".length()));
        Path filler = SmallDisk.fill(disk, 0);
        fillJournal(resources);
        // An empty file needs no room.
        Files.createFile(gate);
        ProcessHandle.of(pid).ifPresent(process -> process.onExit().join());
        Thread.sleep(Duration.ofSeconds(1));
        String phase = phase(resources, "first");
        Files.delete(filler);
        await(resources, "first", "Succeeded");
        create(resources, "second");
        await(resources, "second", "Succeeded");
        System.out.println(
            "phase on the full disk: " + phase + ", failure: " + kubelet.failure().isPresent());
      }
    }
  }

  /** Takes the rest of the journal's last page. */
  private static void fillJournal(Resources resources) {
    for (int i = 0; i < 20; i++) {
      try {
        create(resources, "filler-" + i);
      } catch (RuntimeException e) {
        return;
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    }
    throw new IllegalStateException("the disk is not full");
  }

  private static void create(Resources resources, String name) throws IOException {
    ObjectNode pod = Json.object();
    Json.metadata(pod).put("name", name);
    pod.set("spec", Json.YAML.readTree("containers: [{name: main, image: x}]"));
    resources.create(ResourceTypes.POD, "default", pod, Options.PLAIN);
  }

  private static String phase(Resources resources, String name) {
    return resources.get(ResourceTypes.POD, "default", name).at("/status/phase").asText();
  }

  private static void await(Resources resources, String name, String phase)
      throws InterruptedException {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (!phase(resources, name).equals(phase)) {
      if (System.nanoTime() > end) {
        throw new IllegalStateException(
            "not %s in time: %s"
                .formatted(phase, resources.get(ResourceTypes.POD, "default", name)));
      }
      Thread.sleep(Duration.ofMillis(20));
    }
  }
}
