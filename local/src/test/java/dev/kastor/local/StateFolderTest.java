package dev.kastor.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("never-retried")
final class StateFolderTest {
  @TempDir Path folder;

  private static void mode(Path path, String mode) throws IOException {
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(mode));
  }

  @Test
  void refusesAFolderThatOthersMayWriteTo() throws Exception {
    Path root = Files.createDirectory(folder.resolve("home"));
    for (String open : new String[] {"rwxrwx---", "rwx----w-"}) {
      mode(root, open);
      assertThatThrownBy(() -> StateFolder.lock(root))
          .isInstanceOf(LocalException.class)
          .hasMessageContaining("may be written to by others")
          .hasMessageContaining(open)
          .hasMessageContaining("chmod go-w " + root);
    }
    mode(root, "rwxr-xr-x");
    StateFolder.lock(root).close();
  }

  @Test
  void refusesPluginsThatOthersMayReplace() throws Exception {
    Path root = folder.resolve("home");
    Path plugins = Files.createDirectories(root.resolve("plugins"));
    Path jar = Files.createFile(plugins.resolve("own.jar"));
    mode(root, "rwx------");
    mode(plugins, "rwx------");
    mode(jar, "rw-rw-r--");
    assertThatThrownBy(() -> StateFolder.lock(root)).hasMessageContaining("chmod go-w " + jar);
    mode(jar, "rw-r--r--");
    mode(plugins, "rwxrwxrwx");
    assertThatThrownBy(() -> StateFolder.lock(root)).hasMessageContaining("chmod go-w " + plugins);
    mode(plugins, "rwxr-xr-x");
    try (StateFolder state = StateFolder.lock(root)) {
      assertThat(state.plugins()).isEqualTo(plugins);
    }
  }
}
