package dev.kastor.e2e.scale;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * What goes wrong with the parts of a control plane, done to the processes that {@code e2e/inside}
 * started.
 */
final class Faults {
  private final Path state = Path.of(System.getenv("KASTOR_E2E_STATE"));

  /** Stops a part for a while without ending it, as a disk that does not answer does. */
  void pause(String part, Duration time) throws IOException, InterruptedException {
    signal(part, "STOP");
    try {
      Thread.sleep(time);
    } finally {
      signal(part, "CONT");
    }
  }

  /** Kills a part; it is started again as it was, as a service manager would, but not earlier. */
  void restart(String part, Duration away) throws IOException, InterruptedException {
    Path hold = state.resolve("hold").resolve(part);
    Files.createFile(hold);
    try {
      signal(part, "KILL");
      Thread.sleep(away);
    } finally {
      Files.delete(hold);
    }
  }

  private void signal(String part, String name) throws IOException, InterruptedException {
    Process kill =
        new ProcessBuilder("kill", "-" + name, Long.toString(pid(part))).inheritIO().start();
    if (kill.waitFor() != 0) {
      throw new IOException("%s could not be sent to %s".formatted(name, part));
    }
  }

  private long pid(String part) throws IOException {
    return Long.parseLong(Files.readString(state.resolve("pid").resolve(part)).strip());
  }
}
