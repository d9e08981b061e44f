package dev.kastor.traces;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files that only a process of its own can write: its descriptors, and those of a full disk. */
final class AtomicFileIT {
  @TempDir private Path folder = Path.of("");

  @Test
  void standardOutputIsAppendedTo() throws Exception {
    // A link of our own as /dev/stdout is one: a defect must not break the machine.
    Files.createSymbolicLink(folder.resolve("stdout"), Path.of("/proc/self/fd/1"));
    Result piped = shell("write stdout | cat");
    assertThat(piped.out).isEqualTo("table\nfile\nmore\n");

    shell("write stdout >out; write /dev/fd/1 >>out");
    assertThat(folder.resolve("stdout")).isSymbolicLink();
    assertThat(folder.resolve("out")).hasContent("table\nfile\nmore\ntable\nfile\nmore\n");
  }

  @Test
  void descriptorsOfTheShellAreWrittenTo() throws Exception {
    Result result = shell("write /dev/fd/5 5>five; write /proc/self/fd/6 6>&1 >/dev/null | cat");

    assertThat(folder.resolve("five")).hasContent("file\n");
    assertThat(result.out).isEqualTo("table\nmore\nfile\n");
  }

  @Test
  void aReaderThatLeavesIsToldApart() throws Exception {
    Result result = shell("write /proc/self/fd/1 | true");

    assertThat(result.err).contains("Broken pipe");
  }

  @Test
  void aFullDiskKeepsTheOldFile() throws Exception {
    assumeTrue(
        shell("unshare -m mount -t tmpfs none .").code == 0, "this machine mounts no tmpfs for us");
    Result result =
        shell(
            """
            unshare -m sh -c '
              mount -t tmpfs -o size=64k none . && cd "$PWD" && echo old >out && head -c 90000 /dev/zero >rest
              "$@" out; cat out; ls -A' sh $JAVA -cp "$CLASSES" %s
            """
                .formatted(AtomicFileIT.class.getName()));

    assertThat(result.err).contains("out: No space left on device");
    assertThat(result.out).isEqualTo("table\nold\nout\nrest\n");
  }

  /** Writes a table, a file and more, as commands do. */
  public static void main(String[] arguments) throws IOException {
    System.out.println("table");
    System.out.flush();
    AtomicFile.write(Path.of(arguments[0]), "file\n");
    System.out.println("more");
    System.out.flush();
  }

  private record Result(int code, String out, String err) {}

  private Result shell(String script) throws IOException, InterruptedException {
    Path err = folder.resolveSibling(folder.getFileName() + ".err");
    ProcessBuilder builder =
        new ProcessBuilder(
                "sh",
                "-c",
                "write() { $JAVA -cp \"$CLASSES\" %s \"$@\"; }\n%s"
                    .formatted(AtomicFileIT.class.getName(), script))
            .directory(folder.toFile())
            .redirectError(err.toFile());
    builder
        .environment()
        .put("JAVA", System.getProperty("java.home") + "/bin/java -XX:TieredStopAtLevel=1");
    builder.environment().put("CLASSES", System.getProperty("java.class.path"));
    Process process = builder.start();
    try {
      String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return new Result(process.waitFor(), out, Files.readString(err));
    } finally {
      process.destroyForcibly();
      Files.deleteIfExists(err);
    }
  }
}
