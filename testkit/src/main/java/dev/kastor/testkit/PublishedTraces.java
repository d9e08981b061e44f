package dev.kastor.testkit;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The folder of published traces for conformance tests: {@code KASTOR_TRACES}, by default {@code
 * ../shared/traces} beside the repository.
 */
public final class PublishedTraces {
  private PublishedTraces() {}

  /** A file or folder in it; where it is absent, as {@link Requirement#TRACES} says. */
  public static Path path(String name) {
    Path root = Path.of(System.getProperty("kastor.root", "..")).toAbsolutePath().normalize();
    Path folder =
        Optional.ofNullable(System.getenv("KASTOR_TRACES"))
            .map(Path::of)
            .orElse(root.resolve("../shared/traces"));
    Path path = folder.resolve(name).normalize();
    Requirement.TRACES.check(
        Files.exists(path),
        "conformance was not run: %s is absent; set KASTOR_TRACES to the traces folder"
            .formatted(path));
    return path;
  }
}
