package dev.kastor.plugin.jar;

import dev.kastor.plugin.Plugin;
import dev.kastor.plugin.Registry;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Folder with jars of plug-ins of all kinds, which may use each other.
 *
 * @param path the folder, which need not exist
 */
public record PluginFolder(Path path) {
  /**
   * A registry of the built-in plug-ins and those of this folder. Their classes stay loaded.
   *
   * @param type kind of plug-in
   * @throws PluginException if a jar or class cannot be used, or a name stands for two
   */
  public <P extends Plugin> Registry<P> addTo(Registry<P> builtIn, Class<P> type)
      throws PluginException {
    URL[] jars = jars();
    if (jars.length == 0) {
      return builtIn;
    }
    @SuppressWarnings("resource") // Classes may be needed for as long as the process lives.
    URLClassLoader loader = new URLClassLoader("plugins", jars, type.getClassLoader());
    try {
      return builtIn.with(type, loader);
    } catch (IllegalArgumentException e) {
      throw new PluginException("plug-ins in %s: %s".formatted(path, e.getMessage()), e);
    }
  }

  private URL[] jars() throws PluginException {
    if (!Files.isDirectory(path)) {
      return new URL[0];
    }
    try (Stream<Path> files = Files.list(path)) {
      List<URL> jars = new ArrayList<>();
      for (Path file : files.filter(each -> each.toString().endsWith(".jar")).sorted().toList()) {
        jars.add(file.toUri().toURL());
      }
      return jars.toArray(URL[]::new);
    } catch (IOException e) {
      throw new PluginException("folder %s cannot be read: %s".formatted(path, e), e);
    }
  }
}
