package dev.kastor.e2e.fault;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Calls {@code e2e/fault}, which reaches into nodes and pods. */
final class Script {
  private Script() {}

  /** Does what the verb says; fails with what the script said. */
  static void run(String verb, String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("fault", verb));
    command.addAll(List.of(arguments));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said;
    try (var out = process.getInputStream()) {
      said = new String(out.readAllBytes(), StandardCharsets.UTF_8);
    }
    if (process.waitFor() != 0) {
      throw new IOException("%s failed: %s".formatted(String.join(" ", command), said.strip()));
    }
  }
}
