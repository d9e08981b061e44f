package dev.kastor.e2e.image;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class BillTest {
  @TempDir Path folder;

  @Test
  void namesLibrariesPackagesRuntimeAndEveryOtherFile() throws IOException {
    Path library = file("library.jar", "library");
    Path own = file("own.jar", "own");
    Path libc =
        file(
            "libc6",
            "Package: libc6\nVersion: 2.36-9+deb12u14\nArchitecture: amd64\nX: y\n z: q\n");
    Path release = file("release", "JAVA_VERSION=\"25.0.3\"\n");
    Path maven =
        file(
            "sbom.json",
            """
            {"components": [{"type": "library", "bom-ref": "pkg:maven/org.x/library@1.2",
              "purl": "pkg:maven/org.x/library@1.2", "name": "library", "version": "1.2",
              "hashes": [{"alg": "SHA-256", "content": "%s"}]},
              {"bom-ref": "unused", "name": "unused", "hashes": []}]}
            """
                .formatted(
                    HexFormat.of().formatHex(Layout.sha256().digest(Files.readAllBytes(library)))));
    Layer layer =
        new Layer()
            .file(library, "app/lib/renamed.jar")
            .file(own, "app/own.jar")
            .file(libc, Bill.PACKAGES + "libc6")
            .file(release, Bill.RUNTIME + "release");
    Image image = new Image("example.org/team/one:1", List.of(layer), List.of("/run"));

    new Bill(maven).write(image, "sha256:abc", folder.resolve("out.json"));

    JsonNode bill = new ObjectMapper().readTree(folder.resolve("out.json").toFile());
    assertThat(bill.at("/metadata/component/name").asText()).isEqualTo("example.org/team/one");
    assertThat(bill.at("/metadata/component/version").asText()).isEqualTo("sha256:abc");
    assertThat(StreamSupport.stream(bill.path("components").spliterator(), false))
        .extracting(part -> part.path("bom-ref").asText())
        .containsExactly(
            "/app/own.jar",
            "java-runtime",
            "pkg:deb/debian/libc6@2.36-9%2Bdeb12u14?arch=amd64",
            "pkg:maven/org.x/library@1.2");
  }

  private Path file(String name, String content) throws IOException {
    return Files.writeString(folder.resolve(name), content);
  }
}
