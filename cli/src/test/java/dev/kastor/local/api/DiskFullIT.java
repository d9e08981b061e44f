package dev.kastor.local.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The server on a disk of 4 MiB that is full at random moments; the disk is a tmpfs in a mount
 * namespace of its own, which needs root or user namespaces.
 *
 * <p>{@code -Dkastor.diskFullMoments=2000} makes it longer, {@code -Dkastor.seed=N} repeats a run.
 */
final class DiskFullIT {
  private static final int MOMENTS = Integer.getInteger("kastor.diskFullMoments", 200);

  @TempDir Path folder;

  @Test
  void nothingAcceptedIsLostAndNothingDeletedComesBack() throws Exception {
    boolean root = run(folder.resolve("probe"), "unshare", "-m", "true") == 0;
    String flags = root ? "-m" : "-rm";
    assumeTrue(
        run(folder.resolve("probe"), "unshare", flags, "sh", "-c", mount() + "true") == 0,
        "a disk that is full cannot be tested: mounting a tmpfs takes root or user namespaces");
    long seed = Long.getLong("kastor.seed", new Random().nextLong());
    Path said = folder.resolve("said");
    String program =
        mount()
            + "exec \"$0\" -Xmx128m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp \"$1\" "
            + DiskFullRun.class.getName()
            + " \"$2\" \"$3\" \"$4\"";
    int code =
        run(
            said,
            "unshare",
            flags,
            "sh",
            "-c",
            program,
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            System.getProperty("java.class.path"),
            disk().toString(),
            Long.toString(seed),
            Integer.toString(MOMENTS));
    String output = Files.readString(said);
    assertThat(code).as("seed %d:%n%s", seed, tail(output)).isZero();
    assertThat(output).contains("moments=" + MOMENTS).doesNotContain("refused=0 ");
    System.out.printf("disk full, seed %d: %s", seed, output.substring(output.indexOf("moments=")));
  }

  private Path disk() throws IOException {
    return Files.createDirectories(folder.resolve("disk"));
  }

  private String mount() throws IOException {
    return "mount -t tmpfs -o size=4m,mode=700 kastor-test '%s' && ".formatted(disk());
  }

  private static int run(Path output, String... command) throws IOException, InterruptedException {
    Process process;
    try {
      process =
          new ProcessBuilder(List.of(command))
              .redirectErrorStream(true)
              .redirectOutput(output.toFile())
              .start();
    } catch (IOException e) {
      return -1;
    }
    if (!process.waitFor(3, TimeUnit.MINUTES)) {
      process.destroyForcibly().waitFor();
      return -2;
    }
    return process.exitValue();
  }

  private static String tail(String text) {
    return text.substring(Math.max(0, text.length() - 3000));
  }
}
