package dev.kastor.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A disk of 4 MiB for a program of a test: a tmpfs in a mount namespace of its own, which needs
 * root or user namespaces and ends with the program.
 */
public final class SmallDisk {
  private static final int PAGE = 4096;

  private SmallDisk() {}

  /**
   * Runs a program whose first argument is the disk; skips the test where none can be mounted.
   *
   * @return what it said
   */
  public static String run(Path folder, Class<?> program, String what, String... arguments)
      throws IOException, InterruptedException {
    Path disk = Files.createDirectories(folder.resolve("disk"));
    Path said = folder.resolve("said");
    String mount = "mount -t tmpfs -o size=4m,mode=700 kastor-test '%s' && ".formatted(disk);
    String flags = run(said, List.of("unshare", "-m", "true")) == 0 ? "-m" : "-rm";
    assumeTrue(
        run(said, List.of("unshare", flags, "sh", "-c", mount + "true")) == 0,
        "a disk that is full cannot be tested: mounting a tmpfs takes root or user namespaces");
    List<String> command = new ArrayList<>(List.of("unshare", flags, "sh", "-c"));
    command.add(mount + "exec \"$@\"");
    command.add("sh");
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), program.getName()));
    command.add(disk.toString());
    command.addAll(List.of(arguments));
    int code = run(said, command);
    String output = Files.readString(said);
    assertThat(code)
        .as("%s:%n%s", what, output.substring(Math.max(0, output.length() - 3000)))
        .isZero();
    return output;
  }

  /** Takes all room of a disk but a few pages, by a file that is returned. */
  public static Path fill(Path disk, int pagesLeft) throws IOException {
    Path filler = disk.resolve("filler");
    try (var channel =
        Files.newByteChannel(filler, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      ByteBuffer page = ByteBuffer.allocate(PAGE);
      try {
        while (true) {
          channel.write(page.clear());
        }
      } catch (IOException e) {
        channel.truncate(Math.max(0, channel.size() - (long) pagesLeft * PAGE));
      }
    }
    return filler;
  }

  private static int run(Path output, List<String> command)
      throws IOException, InterruptedException {
    Process process;
    try {
      process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(output.toFile())
              .start();
    } catch (IOException e) {
      return -1;
    }
    if (!process.waitFor(12, TimeUnit.MINUTES)) {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly().waitFor();
      return -2;
    }
    return process.exitValue();
  }
}
