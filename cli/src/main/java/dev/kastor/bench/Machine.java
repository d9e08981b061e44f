package dev.kastor.bench;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What was measured on.
 *
 * @param cpu model of its processors, as the system calls it
 * @param cores that this process may use
 * @param memoryBytes in all
 * @param system name and version
 * @param java version
 * @param loadAverage processes that wanted a core, over the last minute; negative if not known
 */
public record Machine(
    String cpu, int cores, long memoryBytes, String system, String java, double loadAverage) {
  private static final Path PROCESSORS = Path.of("/proc/cpuinfo");

  /** This machine, now. */
  public static Machine here() throws IOException {
    var bean = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    return new Machine(
        processor(),
        Runtime.getRuntime().availableProcessors(),
        bean.getTotalMemorySize(),
        System.getProperty("os.name") + " " + System.getProperty("os.version"),
        System.getProperty("java.version"),
        bean.getSystemLoadAverage());
  }

  private static String processor() throws IOException {
    if (!Files.isReadable(PROCESSORS)) {
      return System.getProperty("os.arch");
    }
    return Files.readAllLines(PROCESSORS).stream()
        .filter(line -> line.startsWith("model name"))
        .map(line -> line.substring(line.indexOf(':') + 1).strip())
        .findFirst()
        .orElse(System.getProperty("os.arch"));
  }
}
