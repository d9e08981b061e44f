package dev.kastor.e2e.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class LayoutTest {
  private static final int BLOCK = 512;

  @TempDir Path folder;

  @Test
  void isTheSameWheneverItIsMadeOfTheSameFiles() throws IOException {
    Path first = content("first", "2020-01-01T00:00:00Z");
    Path second = content("second", "2024-05-05T00:00:00Z");

    assertThat(digest(first, "a")).isEqualTo(digest(second, "b"));
  }

  @Test
  void isAnotherWhenAFileChanges() throws IOException {
    Path first = content("first", "2020-01-01T00:00:00Z");
    String before = digest(first, "a");
    Files.writeString(first.resolve("app.jar"), "changed");

    assertThat(digest(first, "b")).isNotEqualTo(before);
  }

  @Test
  void namesEveryBlobByItsContentAndWritesSharedLayersOnce() throws IOException {
    Layer shared = new Layer().folder(content("shared", "2020-01-01T00:00:00Z"), "app");
    Path at = folder.resolve("layout");
    Layout layout = new Layout(at);
    layout.add(new Image("example/one:1", List.of(shared), List.of("/app/run")));
    layout.add(new Image("example/two:1", List.of(shared), List.of("/app/run", "--two")));
    layout.finish();

    // One layer, and of each image a configuration and a manifest.
    assertThat(at.resolve("blobs/sha256")).isDirectoryContaining("regex:.*/[0-9a-f]{64}");
    try (var blobs = Files.list(at.resolve("blobs/sha256"))) {
      assertThat(blobs).hasSize(5);
    }
    assertThat(at.resolve("index.json")).content().contains("example/one:1", "example/two:1");
  }

  @Test
  void listsVariantsOfAnImageUnderOneNameAndDigest() throws IOException {
    Layer layer = new Layer().folder(content("shared", "2020-01-01T00:00:00Z"), "app");
    Path at = folder.resolve("layout");
    Layout layout = new Layout(at);
    List<Image> variants =
        Stream.of(Platform.values())
            .map(each -> new Image("example/one:1", List.of(layer), List.of("/run"), each))
            .toList();
    String digest = layout.add(variants);
    layout.finish();

    assertThat(at.resolve("index.json"))
        .content()
        .containsOnlyOnce("\"digest\"")
        .contains(digest, "application/vnd.oci.image.index.v1+json");
    assertThat(at.resolve("blobs/sha256").resolve(digest.substring("sha256:".length())))
        .content()
        .contains(
            "\"platform\":{\"architecture\":\"amd64\",\"os\":\"linux\"}",
            "\"platform\":{\"architecture\":\"arm64\",\"os\":\"linux\"}");
  }

  @Test
  void leavesOutJarsWithLibrariesOfOtherMachines() {
    assertThat(
            Stream.of(
                    "ortools-linux-x86-64-9.15.jar",
                    "ortools-linux-aarch64-9.15.jar",
                    "ortools-darwin-aarch64-9.15.jar",
                    "ortools-java-9.15.jar",
                    "dnnl-3.11-1.5.13-linux-x86_64.jar",
                    "dnnl-3.11-1.5.13-linux-arm64.jar",
                    "dnnl-3.11-1.5.13.jar")
                .map(Path::of)
                .filter(Platform.AARCH64::uses)
                .map(Path::toString))
        .containsExactly(
            "ortools-linux-aarch64-9.15.jar",
            "ortools-java-9.15.jar",
            "dnnl-3.11-1.5.13-linux-arm64.jar",
            "dnnl-3.11-1.5.13.jar");
  }

  @Test
  void cutsLongPathsWhereTarAllowsIt() throws IOException {
    String path = "a".repeat(60) + "/" + "b".repeat(60) + "/c.jar";
    Path file = Files.writeString(folder.resolve("c.jar"), "content");
    var out = new ByteArrayOutputStream();
    new Layer().file(file, path).write(out);

    // After the headers of two folders comes the file's: its name, and at 345 what comes before.
    byte[] header = out.toByteArray();
    assertThat(text(header, 2 * BLOCK)).isEqualTo("b".repeat(60) + "/c.jar");
    assertThat(text(header, 2 * BLOCK + 345)).isEqualTo("a".repeat(60));
    assertThat(text(header, 3 * BLOCK)).isEqualTo("content");
    assertThat(header.length % BLOCK).isZero();
  }

  @Test
  void refusesPathsThatDoNotFit() throws IOException {
    Path file = Files.writeString(folder.resolve("c.jar"), "content");
    Layer layer = new Layer().file(file, "a".repeat(120));

    assertThatThrownBy(() -> layer.write(new ByteArrayOutputStream()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("too long");
  }

  private static String text(byte[] bytes, int at) {
    int end = at;
    while (bytes[end] != 0) {
      end++;
    }
    return new String(bytes, at, end - at, StandardCharsets.UTF_8);
  }

  private String digest(Path content, String name) throws IOException {
    Layer layer = new Layer().folder(content, "app").writable("tmp");
    return new Layout(folder.resolve(name))
        .add(new Image("example/app:1", List.of(layer), List.of("/app/run")));
  }

  private Path content(String name, String changed) throws IOException {
    Path made = Files.createDirectory(folder.resolve(name));
    for (String file : List.of("run", "app.jar")) {
      Path at = Files.writeString(made.resolve(file), "content of " + file);
      Files.setLastModifiedTime(at, FileTime.from(Instant.parse(changed)));
    }
    return made;
  }
}
