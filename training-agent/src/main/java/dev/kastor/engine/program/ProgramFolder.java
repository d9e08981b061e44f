package dev.kastor.engine.program;

import dev.kastor.engine.train.Program;
import dev.kastor.engine.train.ProgramException;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Programs that others wrote: classes that implement {@link Program}, named in the services of
 * their jars. The jars of one folder may use each other.
 */
final class ProgramFolder {
  private static final Logger LOG = LoggerFactory.getLogger(ProgramFolder.class);
  private static final String PROPERTY = "kastor.programs";
  private static final String IN_IMAGES = "/app/programs";

  private ProgramFolder() {}

  /** Where the jars of this process are: the property {@code kastor.programs}. */
  static Path path() {
    return Path.of(System.getProperty(PROPERTY, IN_IMAGES));
  }

  /**
   * The programs of a folder, none if it does not exist. Their classes stay loaded.
   *
   * @throws ProgramException if a jar or class cannot be used, or a name stands for two; the
   *     message names it
   */
  static List<Program> read(Path folder) throws ProgramException {
    URL[] jars = jars(folder);
    if (jars.length == 0) {
      return List.of();
    }
    @SuppressWarnings("resource") // Classes may be needed for as long as the process lives.
    URLClassLoader loader = new URLClassLoader("programs", jars, Program.class.getClassLoader());
    Map<String, Program> byName = new HashMap<>();
    List<Program> programs = new ArrayList<>();
    Iterator<Program> found = ServiceLoader.load(Program.class, loader).iterator();
    try {
      while (found.hasNext()) {
        Program program = found.next();
        Program other = byName.putIfAbsent(program.name(), program);
        if (other != null) {
          throw new ProgramException(
              "Two classes in %s are program '%s': %s and %s. Rename one or take its jar away."
                  .formatted(
                      folder,
                      program.name(),
                      other.getClass().getName(),
                      program.getClass().getName()));
        }
        programs.add(program);
      }
    } catch (ServiceConfigurationError | LinkageError e) {
      throw new ProgramException(
          "A program in %s cannot be loaded: %s"
              .formatted(folder, e.getCause() == null ? e.getMessage() : e + ": " + e.getCause()),
          e);
    }
    LOG.info("programs in {}: {}", folder, byName.keySet().stream().sorted().toList());
    return programs;
  }

  private static URL[] jars(Path folder) throws ProgramException {
    if (!Files.isDirectory(folder)) {
      return new URL[0];
    }
    try (Stream<Path> files = Files.list(folder)) {
      List<URL> jars = new ArrayList<>();
      for (Path file : files.filter(each -> each.toString().endsWith(".jar")).sorted().toList()) {
        jars.add(file.toUri().toURL());
      }
      return jars.toArray(URL[]::new);
    } catch (IOException e) {
      throw new ProgramException("Folder %s cannot be read: %s".formatted(folder, e), e);
    }
  }
}
