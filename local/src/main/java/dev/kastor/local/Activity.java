package dev.kastor.local;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Signs of work of a process: what it has logged and the CPU time that it has used.
 *
 * @param logBytes size of its log
 * @param cpu of all its threads; zero where the system does not say, or the process is gone
 */
record Activity(long logBytes, Duration cpu) {
  static Activity of(ProcessHandle process, Path log) {
    Duration cpu = process.info().totalCpuDuration().orElse(Duration.ZERO);
    try {
      return new Activity(Files.size(log), cpu);
    } catch (IOException e) {
      return new Activity(0, cpu);
    }
  }

  /** Whether something was done since an earlier look. */
  boolean differs(Activity earlier) {
    return !equals(earlier);
  }
}
