package dev.kastor.local;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** Number of files and connections that a process may have open. */
final class OpenFiles {
  /** Both the API server and the operator run with it, some dozens of connections included. */
  private static final long LEAST = 256;

  private OpenFiles() {}

  /** Refuses a limit with which something would fail later, in words that do not name it. */
  static void check() throws LocalException {
    if (ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean system
        && system.getMaxFileDescriptorCount() < LEAST) {
      throw new LocalException(
          "a process may have %d open files here, and local mode needs %d. Raise the limit: ulimit -n 1024"
              .formatted(system.getMaxFileDescriptorCount(), LEAST));
    }
  }
}
