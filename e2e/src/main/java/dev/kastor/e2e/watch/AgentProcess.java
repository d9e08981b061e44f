package dev.kastor.e2e.watch;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A process that trains, as the kernel shows it.
 *
 * @param pid its number here
 * @param pod namespace and name of the pod that it was started in
 * @param jobUid of its job
 * @param node that it was started on
 * @param devices that it was given, separated by commas
 */
public record AgentProcess(long pid, String pod, String jobUid, String node, String devices) {
  private static final Path PROC = Path.of("/proc");

  /** The devices one by one; none where it was given none. */
  List<String> deviceList() {
    return Arrays.stream(devices.split(",", -1)).filter(device -> !device.isEmpty()).toList();
  }

  /** All of them, on all nodes: their process numbers can be seen from here. */
  public static List<AgentProcess> all() throws IOException {
    List<AgentProcess> found = new ArrayList<>();
    try (DirectoryStream<Path> processes = Files.newDirectoryStream(PROC, "[0-9]*")) {
      for (Path process : processes) {
        of(process).ifPresent(found::add);
      }
    }
    return found;
  }

  private static Optional<AgentProcess> of(Path process) {
    Map<String, String> environment = new HashMap<>();
    try {
      if (!Files.readString(process.resolve("comm")).strip().equals("java")) {
        return Optional.empty();
      }
      byte[] bytes = Files.readAllBytes(process.resolve("environ"));
      for (String entry : new String(bytes, StandardCharsets.UTF_8).split("\0", -1)) {
        int cut = entry.indexOf('=');
        if (cut > 0) {
          environment.put(entry.substring(0, cut), entry.substring(cut + 1));
        }
      }
    } catch (IOException e) {
      // It has ended meanwhile.
      return Optional.empty();
    }
    if (!environment.containsKey("KASTOR_POD")) {
      return Optional.empty();
    }
    return Optional.of(
        new AgentProcess(
            Long.parseLong(process.getFileName().toString()),
            environment.get("KASTOR_NAMESPACE") + "/" + environment.get("KASTOR_POD"),
            environment.getOrDefault("KASTOR_JOB_UID", ""),
            environment.getOrDefault("KASTOR_NODE", ""),
            environment.getOrDefault("NVIDIA_VISIBLE_DEVICES", "")));
  }
}
