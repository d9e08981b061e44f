package dev.kastor.simulator.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The most memory of this process that was in RAM since the last {@link #restart}; Linux only. */
final class ResidentMemory {
  private static final Path STATUS = Path.of("/proc/self/status");
  private static final Path CLEAR = Path.of("/proc/self/clear_refs");

  private ResidentMemory() {}

  /** Forgets the peak so far; without the right to do so the peak stays that of the process. */
  static void restart() {
    try {
      Files.writeString(CLEAR, "5");
    } catch (IOException e) {
      // Then the figure is too high, never too low.
      return;
    }
  }

  /** Peak in bytes; 0 where the system does not tell. */
  static long peakBytes() throws IOException {
    if (!Files.isReadable(STATUS)) {
      return 0;
    }
    return Files.readAllLines(STATUS).stream()
        .filter(line -> line.startsWith("VmHWM:"))
        .mapToLong(line -> 1024 * Long.parseLong(line.replaceAll("\\D", "")))
        .findFirst()
        .orElse(0);
  }
}
