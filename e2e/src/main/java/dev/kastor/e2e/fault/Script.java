package dev.kastor.e2e.fault;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Calls {@code e2e/fault}, which reaches into nodes and pods. */
final class Script {
  /** What was to be broken is not there any more. */
  static final class Gone extends IOException {
    private static final long serialVersionUID = 1;

    Gone(String said) {
      super(said);
    }
  }

  private static final int NOTHING_THERE = 3;

  private Script() {}

  /**
   * Does what the verb says; fails with what the script said.
   *
   * @throws Gone if there was nothing left to do it to
   */
  static void run(String verb, String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("fault", verb));
    command.addAll(List.of(arguments));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said;
    try (var out = process.getInputStream()) {
      said = new String(out.readAllBytes(), StandardCharsets.UTF_8);
    }
    int status = process.waitFor();
    if (status == NOTHING_THERE) {
      throw new Gone(said.strip());
    }
    if (status != 0) {
      throw new IOException("%s failed: %s".formatted(String.join(" ", command), said.strip()));
    }
  }
}
