package dev.kastor.traces.measured;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The folder of published traces for conformance tests: {@code KASTOR_TRACES}, by default {@code
 * ../shared/traces} beside the repository. Where it is absent the test is skipped, or fails if
 * {@code KASTOR_REQUIRE_TRACES} is true.
 */
public final class PublishedTraces {
  private PublishedTraces() {}

  /** A file or folder in it. */
  public static Path path(String name) {
    Path root = Path.of(System.getProperty("kastor.root", "..")).toAbsolutePath().normalize();
    Path folder =
        Optional.ofNullable(System.getenv("KASTOR_TRACES"))
            .map(Path::of)
            .orElse(root.resolve("../shared/traces"));
    Path path = folder.resolve(name).normalize();
    if (!Files.exists(path)) {
      String message =
          "conformance was not run: %s is absent; set KASTOR_TRACES to the traces folder"
              .formatted(path);
      assertThat(System.getenv("KASTOR_REQUIRE_TRACES")).as(message).isNotEqualTo("true");
      assumeTrue(false, message);
    }
    return path;
  }
}
