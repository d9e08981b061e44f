package dev.kastor.agent.telemetry;

import dev.kastor.agent.operator.WireJson;
import dev.kastor.protocol.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** The file whose content becomes the container's termination message. */
public record TerminationLog(Path file) {
  /** Writes the outcome; a reader sees all of it or nothing. */
  public void write(Outcome outcome) throws IOException {
    byte[] json = WireJson.write(outcome);
    Path temporary = file.resolveSibling(file.getFileName() + ".tmp");
    try {
      Files.write(temporary, json);
      Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      // A kubelet mounts the file itself into a directory that we may not write to; it reads the
      // file only after we have ended.
      Files.write(file, json);
    }
  }
}
