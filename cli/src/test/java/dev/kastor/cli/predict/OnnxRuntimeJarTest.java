package dev.kastor.cli.predict;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.cli.terminal.CliException;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class OnnxRuntimeJarTest {
  private static final Path ROOT = Path.of(System.getProperty("kastor.root", ".."));

  @TempDir Path folder;

  @Tag("slow")
  @Test
  void theJarOfTheBuildIsTheOneThatIsInstalled() throws Exception {
    Path jar =
        Stream.of(System.getProperty("java.class.path").split(File.pathSeparator, -1))
            .map(Path::of)
            .filter(path -> path.endsWith(OnnxRuntimeJar.NAME))
            .findFirst()
            .orElseThrow();
    Path place = folder.resolve("cache").resolve(OnnxRuntimeJar.NAME);

    OnnxRuntimeJar.put(Files.readAllBytes(jar), place);

    assertThat(place).hasSameBinaryContentAs(jar);
  }

  @Test
  void anotherJarIsNotInstalled() {
    Path place = folder.resolve(OnnxRuntimeJar.NAME);
    assertThatThrownBy(() -> OnnxRuntimeJar.put(new byte[100], place))
        .isInstanceOf(CliException.class)
        .hasMessageContainingAll("checksum", place.toString());
    assertThat(place).doesNotExist();
  }

  @Test
  void theLauncherLooksWhereItIsPut() throws Exception {
    assertThat(OnnxRuntimeJar.place(Map.of("HOME", "/home/a", "XDG_CACHE_HOME", "/c")))
        .hasToString("/c/kastor/onnxruntime/" + OnnxRuntimeJar.NAME);
    assertThat(OnnxRuntimeJar.place(Map.of("HOME", "/home/a")))
        .hasToString("/home/a/.cache/kastor/onnxruntime/" + OnnxRuntimeJar.NAME);
    assertThat(ROOT.resolve("kastor"))
        .content()
        .contains("${XDG_CACHE_HOME:-$HOME/.cache}/kastor/onnxruntime/" + OnnxRuntimeJar.NAME);
  }
}
