package dev.kastor.traces;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files that a command was told to write, as a shell's user expects them. */
final class AtomicFileTest {
  @TempDir private Path folder = Path.of("");

  @Test
  void replacesAFileAndKeepsItsMode() throws IOException {
    Path file = Files.writeString(folder.resolve("out.json"), "old");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));

    AtomicFile.write(file, "new");

    assertThat(file).hasContent("new");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-r-----");
    assertThat(names()).containsExactly("out.json");
  }

  @Test
  void keepsTheOwnerOfAFileThatRootReplaces() throws IOException {
    Path file = Files.writeString(folder.resolve("out.json"), "old");
    assumeTrue(root(), "only root may give files away");
    Files.setAttribute(file, "unix:uid", 12345);
    Files.setAttribute(file, "unix:gid", 12346);

    AtomicFile.write(file, "new");

    assertThat(Files.getAttribute(file, "unix:uid")).isEqualTo(12345);
    assertThat(Files.getAttribute(file, "unix:gid")).isEqualTo(12346);
  }

  @Test
  void writesThroughLinks() throws IOException {
    Path file = Files.writeString(folder.resolve("real"), "old");
    Path near = Files.createSymbolicLink(folder.resolve("near"), Path.of("real"));
    Path far = Files.createSymbolicLink(folder.resolve("far"), near);

    AtomicFile.write(far, "new");

    assertThat(file).hasContent("new");
    assertThat(near).isSymbolicLink();
    assertThat(far).isSymbolicLink();
  }

  @Test
  void makesTheFileThatALinkToNothingNames() throws IOException {
    Path link = Files.createSymbolicLink(folder.resolve("link"), Path.of("later"));

    AtomicFile.write(link, "new");

    assertThat(link).isSymbolicLink();
    assertThat(folder.resolve("later")).hasContent("new");
  }

  @Test
  void refusesLinksInACircle() throws IOException {
    Path link = Files.createSymbolicLink(folder.resolve("a"), Path.of("b"));
    Files.createSymbolicLink(folder.resolve("b"), Path.of("a"));

    assertThatThrownBy(() -> AtomicFile.write(link, "new")).isInstanceOf(FileSystemException.class);
  }

  @Test
  void writesIntoAPipeThatSomebodyReads() throws Exception {
    Path pipe = folder.resolve("pipe");
    run("mkfifo", pipe.toString());
    CompletableFuture<String> read =
        CompletableFuture.supplyAsync(() -> {
          try {
            return Files.readString(pipe);
          } catch (IOException e) {
            throw new IllegalStateException(e);
          }
        });

    AtomicFile.check(pipe);
    AtomicFile.write(pipe, "through");

    assertThat(read.get(10, TimeUnit.MINUTES)).isEqualTo("through");
    assertThat(Files.readAttributes(pipe, "*", LinkOption.NOFOLLOW_LINKS))
        .containsEntry("isRegularFile", false);
  }

  @Test
  void leavesDevicesDevices() throws Exception {
    Path nothing = device("null", 3);
    Path full = device("full", 7);
    Path link = Files.createSymbolicLink(folder.resolve("link"), nothing);

    AtomicFile.check(link);
    AtomicFile.write(nothing, "gone");
    AtomicFile.write(link, "gone");
    assertThatThrownBy(() -> AtomicFile.write(full, "much"))
        .isInstanceOf(FileSystemException.class)
        .hasMessageContaining(full.toString())
        .hasMessageContaining("No space left on device");

    assertThat(Files.isRegularFile(nothing)).isFalse();
    assertThat(Files.isRegularFile(full)).isFalse();
    assertThat(names()).containsExactlyInAnyOrder("null", "full", "link");
  }

  @Test
  void writesAFileOfAFolderThatIsReadOnly() throws IOException {
    assumeTrue(!root(), "root may write to every folder");
    Path closed = Files.createDirectory(folder.resolve("closed"));
    Path file = Files.writeString(closed.resolve("out"), "old");
    Files.setPosixFilePermissions(closed, PosixFilePermissions.fromString("r-xr-xr-x"));
    try {
      AtomicFile.check(file);
      AtomicFile.write(file, "new");
    } finally {
      Files.setPosixFilePermissions(closed, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
    assertThat(file).hasContent("new");
  }

  @Test
  void leavesAFileThatIsReadOnly() throws IOException {
    assumeTrue(!root(), "root may write to every file");
    Path file = Files.writeString(folder.resolve("out"), "old");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("r--r--r--"));

    assertThatThrownBy(() -> AtomicFile.write(file, "new"))
        .isInstanceOf(AccessDeniedException.class);
    assertThat(file).hasContent("old");
  }

  @Test
  void letsTheOwnerAloneReadWhatIsPrivate() throws IOException {
    Path file = Files.writeString(folder.resolve("bundle"), "old");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));

    AtomicFile.writePrivate(file, "new".getBytes(StandardCharsets.UTF_8));

    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
  }

  /** A device of the same kind as one of {@code /dev}, which a defect could break. */
  private Path device(String name, int minor) throws Exception {
    Path device = folder.resolve(name);
    assumeTrue(root(), "only root makes devices");
    assumeTrue(
        run("mknod", "-m", "666", device.toString(), "c", "1", Integer.toString(minor)) == 0,
        "this machine lets nobody make devices");
    try {
      Files.newOutputStream(device).close();
    } catch (IOException e) {
      assumeTrue(false, "devices cannot be opened here");
    }
    return device;
  }

  private List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).toList();
    }
  }

  private static boolean root() {
    return ProcessHandle.current().info().user().filter("root"::equals).isPresent();
  }

  private static int run(String... command) throws IOException, InterruptedException {
    return new ProcessBuilder(command).inheritIO().start().waitFor();
  }
}
