package dev.kastor.e2e.scale;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * What goes wrong with the parts of a control plane, done to the processes that {@code e2e/inside}
 * started.
 */
final class Faults {
  private final Path processes = Path.of(System.getenv("KASTOR_E2E_STATE"), "pid");
  private final Path logs = Path.of(System.getenv("KASTOR_E2E_LOGS"));

  /** Stops a part for a while without ending it, as a disk that does not answer does. */
  void pause(String part, Duration time) throws IOException, InterruptedException {
    signal(part, "STOP");
    try {
      Thread.sleep(time);
    } finally {
      signal(part, "CONT");
    }
  }

  /** Kills a part and starts it again as it was. */
  void restart(String part, Duration away) throws IOException, InterruptedException {
    long pid = pid(part);
    String command =
        Files.readString(Path.of("/proc", Long.toString(pid), "cmdline"), StandardCharsets.UTF_8);
    signal(part, "KILL");
    Thread.sleep(away);
    File log = logs.resolve(part + ".log").toFile();
    Process again =
        new ProcessBuilder(List.of(command.split("\0", -1)))
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(log))
            .start();
    Files.writeString(processes.resolve(part), Long.toString(again.pid()));
  }

  private void signal(String part, String name) throws IOException, InterruptedException {
    Process kill =
        new ProcessBuilder("kill", "-" + name, Long.toString(pid(part))).inheritIO().start();
    if (kill.waitFor() != 0) {
      throw new IOException("%s could not be sent to %s".formatted(name, part));
    }
  }

  private long pid(String part) throws IOException {
    return Long.parseLong(Files.readString(processes.resolve(part)).strip());
  }
}
