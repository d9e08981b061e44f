package dev.kastor.e2e.cluster;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** The command {@code helm}: the one on PATH, else that of the cache of {@code ./kastor e2e}. */
public final class Helm {
  private static final Optional<Path> PROGRAM = find();

  private Helm() {}

  /** Whether there is one. */
  static boolean found() {
    return PROGRAM.isPresent();
  }

  /** Where it is, as a command. */
  public static String program() {
    return PROGRAM
        .map(Path::toString)
        .orElseThrow(() -> new AssertionError("there is no helm on PATH"));
  }

  private static Optional<Path> find() {
    Stream<Path> onPath =
        Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
            .map(Path::of);
    return Stream.concat(onPath, cached())
        .map(folder -> folder.resolve("helm"))
        .filter(Files::isExecutable)
        .findFirst();
  }

  private static Stream<Path> cached() {
    Map<String, String> environment = System.getenv();
    Path cache =
        Path.of(
            environment.getOrDefault(
                "KASTOR_E2E_CACHE", System.getProperty("user.home") + "/.cache/kastor/e2e"));
    if (!Files.isDirectory(cache)) {
      return Stream.empty();
    }
    try (Stream<Path> parts = Files.list(cache)) {
      List<Path> all =
          parts
              .filter(part -> part.getFileName().toString().matches("kube-[0-9.]+-[0-9a-f]+"))
              .toList();
      return all.stream();
    } catch (IOException e) {
      return Stream.empty();
    }
  }
}
