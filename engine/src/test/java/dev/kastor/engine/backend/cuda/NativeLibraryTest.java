package dev.kastor.engine.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where libraries are looked for; the machine's library of mathematics is one. */
final class NativeLibraryTest {
  private static final String SOME = "libm.so.6";

  @TempDir private Path folder;

  @Tag("slow")
  @Test
  void foldersComeBeforeTheSystemWhateverTheVersion() throws Exception {
    assumeThat(NativeLibrary.find(List.of("libnone.so.13", SOME), null))
        .as("a library of that name")
        .isNotNull();
    Path own = folder.resolve("libown.so.12");
    Files.copy(loaded("/libm.so.6"), own);
    NativeLibrary found =
        Objects.requireNonNull(
            NativeLibrary.find(List.of(SOME, "libown.so.12"), ":/no/such/folder:" + folder));
    assertThat(found.name()).isEqualTo(own.toString());
    assertThat(found.symbols().find("cos")).isPresent();
  }

  /** The file of a library that this process uses. */
  private static Path loaded(String end) throws Exception {
    try (var maps = Files.lines(Path.of("/proc/self/maps"))) {
      String line = maps.filter(each -> each.endsWith(end)).findFirst().orElseThrow();
      return Path.of(line.substring(line.indexOf('/')));
    }
  }

  @Test
  void whatIsNoLibraryIsPassedOver() throws Exception {
    Files.writeString(folder.resolve("libown.so"), "text");
    assertThat(NativeLibrary.find(List.of("libown.so"), folder.toString())).isNull();
    assertThat(NativeLibrary.find(List.of("libown.so"), "\0")).isNull();
  }

  @Test
  void namesOfVersionsComeBeforeTheOneWithout() {
    assertThat(NativeLibrary.names("libx", 13, 12))
        .containsExactly("libx.so.13", "libx.so.12", "libx.so");
  }
}
