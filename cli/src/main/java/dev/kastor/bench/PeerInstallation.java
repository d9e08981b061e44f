package dev.kastor.bench;

import dev.kastor.local.Installation;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

/** Finder of the peer in the user's cache, where it is put if need be: {@code tools/pytorch.py}. */
public final class PeerInstallation {
  private PeerInstallation() {}

  /**
   * The Python that has the peer. The first call downloads half a gigabyte.
   *
   * @param progress gets a line now and then
   */
  public static Path python(Installation installation, Consumer<String> progress)
      throws BenchException, InterruptedException {
    Path script = installation.root().resolve("tools/pytorch.py");
    String last = "it said nothing";
    try {
      Process process = new ProcessBuilder(script.toString()).start();
      // One line of output at its end, so it cannot block while its progress is read.
      try (BufferedReader lines = process.errorReader()) {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
          progress.accept(line);
          last = line;
        }
      }
      List<String> answer = process.inputReader().lines().toList();
      if (process.waitFor() == 0 && !answer.isEmpty()) {
        return Path.of(answer.getLast());
      }
    } catch (IOException e) {
      last = String.valueOf(e.getMessage());
    }
    throw new BenchException(
        "PyTorch cannot be installed: %s. Measure Kastor alone with --peer none, or name a Python that has it with --peer PATH."
            .formatted(last.strip().replaceAll("^kastor: |\\.$", "")));
  }
}
