package dev.kastor.testkit;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Finder of programs: on PATH, those of Kubernetes else in the cache of {@code ./kastor e2e}. */
public final class Programs {
  private Programs() {}

  /** Where a program such as {@code helm} or {@code kubectl} is, if there is one. */
  public static Optional<Path> find(String name) {
    Stream<Path> onPath =
        Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
            .map(Path::of);
    return Stream.concat(onPath, cached().stream())
        .map(folder -> folder.resolve(name))
        .filter(Files::isExecutable)
        .findFirst();
  }

  /** A compiler of C; where there is none, as {@link Requirement#GCC} says. */
  public static Path compilerOfC() {
    return Requirement.GCC.of(
        find("cc").or(() -> find("gcc")),
        "there is neither cc nor gcc on PATH; install one, for example with: apt-get install gcc");
  }

  private static List<Path> cached() {
    Map<String, String> environment = System.getenv();
    Path cache =
        Path.of(
            environment.getOrDefault(
                "KASTOR_E2E_CACHE", System.getProperty("user.home") + "/.cache/kastor/e2e"));
    if (!Files.isDirectory(cache)) {
      return List.of();
    }
    try (Stream<Path> parts = Files.list(cache)) {
      return parts
          .filter(part -> part.getFileName().toString().matches("kube-[0-9.]+-[0-9a-f]+"))
          .toList();
    } catch (IOException e) {
      return List.of();
    }
  }
}
