package dev.kastor.e2e.architecture;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.LocationProvider;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Compiled classes of all modules, without those of tests. ArchUnit reads them once for all test
 * classes that name this provider.
 */
public final class CompiledModules implements LocationProvider {
  private static final Path ROOT =
      Path.of(System.getProperty("kastor.root", "..")).toAbsolutePath().normalize();
  private static final Pattern MODULE = Pattern.compile("<module>([^<]+)</module>");

  @Override
  public Set<Location> get(Class<?> test) {
    return names().stream()
        .map(module -> Location.of(folder(module)))
        .collect(Collectors.toUnmodifiableSet());
  }

  /** Modules of the build. */
  static List<String> names() {
    try {
      return MODULE
          .matcher(Files.readString(ROOT.resolve("pom.xml")))
          .results()
          .map(found -> found.group(1))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Classes of one module. */
  static DescribedPredicate<JavaClass> of(String module) {
    URI folder = folder(module).toUri();
    return DescribedPredicate.describe(
        "of module " + module,
        type ->
            type.getSource()
                .filter(source -> source.getUri().toString().startsWith(folder.toString()))
                .isPresent());
  }

  private static Path folder(String module) {
    Path compiled = ROOT.resolve(module, "target", "classes");
    if (!Files.isDirectory(compiled)) {
      throw new IllegalStateException(
          "module %s is not compiled: there is no %s. Run ./kastor build first."
              .formatted(module, compiled));
    }
    return compiled;
  }
}
