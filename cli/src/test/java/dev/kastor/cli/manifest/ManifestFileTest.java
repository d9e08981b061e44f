package dev.kastor.cli.manifest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.cli.Terminal;
import dev.kastor.cli.terminal.CliException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ManifestFileTest {
  private static final Path STANDARD_INPUT = Path.of("-");

  @TempDir private Path folder = Path.of("");

  @Test
  void readsNoMoreThanAFileOfJobsCanHold() throws IOException {
    Path large =
        Files.writeString(
            folder.resolve("large.yaml"),
            Terminal.JOB + "  note: \"" + "x".repeat(2 << 20) + "\"\n");
    for (Path file : new Path[] {large, Path.of("/dev/zero")}) {
      assertThatThrownBy(() -> ManifestFile.read(file))
          .isInstanceOf(CliException.class)
          .hasMessage(
              file
                  + ": is longer than 1 MiB, the most that is read of YAML. Split it, or name"
                  + " another file.");
    }
  }

  @Tag("slow")
  @Test
  void standardInputNeedNotEnd() throws IOException {
    try (InputStream endless = Files.newInputStream(Path.of("/dev/zero"))) {
      assertThatThrownBy(() -> ManifestFile.text(STANDARD_INPUT, endless))
          .hasMessageStartingWith("-: is longer than 1 MiB");
    }
  }

  @Tag("slow")
  @Test
  void aFileOfTheGreatestLengthIsRead() throws IOException {
    int left = (1 << 20) - Terminal.JOB.length();
    Path full =
        Files.writeString(
            folder.resolve("full.yaml"), Terminal.JOB + "#" + "x".repeat(left - 2) + "\n");

    assertThat(ManifestFile.read(full)).hasSize(1);
  }

  @Tag("slow")
  @Test
  void aByteOrderMarkIsNoPartOfTheText() throws IOException {
    Path marked = Files.writeString(folder.resolve("marked.yaml"), "\uFEFF" + Terminal.JOB);

    assertThat(ManifestFile.read(marked).getFirst().name()).isEqualTo("digits");
  }
}
