package dev.kastor.engine.program;

import dev.kastor.engine.train.ProgramException;
import dev.kastor.plugin.Plugin;
import dev.kastor.plugin.Registry;
import dev.kastor.plugin.jar.PluginException;
import dev.kastor.plugin.jar.PluginFolder;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Plug-ins of the user: jars in the folder that the property {@code kastor.plugins} names, or, for
 * whoever only checks programs, one that is bound for the time of the check.
 */
final class PluginJars {
  /** The folder for the time of a check. */
  static final ScopedValue<Path> CHECKED = ScopedValue.newInstance();

  private static final Logger LOG = LoggerFactory.getLogger(PluginJars.class);
  private static final String PROPERTY = "kastor.plugins";
  private static final String IN_IMAGES = "/app/plugins";

  private PluginJars() {}

  static Path folder() {
    return CHECKED.orElse(Path.of(System.getProperty(PROPERTY, IN_IMAGES)));
  }

  /**
   * A registry in which a name is looked for: the built-in ones where they have it, so that jars
   * that cannot be used are no reason to refuse those.
   *
   * @throws ProgramException if the jars are needed and cannot be used
   */
  static <P extends Plugin> Registry<P> registry(
      String name, Registry<P> builtIn, Class<P> type, Path folder) throws ProgramException {
    if (builtIn.names().contains(name)) {
      return builtIn;
    }
    try {
      Registry<P> all = new PluginFolder(folder).addTo(builtIn, type);
      LOG.info(
          "{} in {}: {}",
          type.getSimpleName(),
          folder,
          all.names().subList(builtIn.names().size(), all.names().size()));
      return all;
    } catch (PluginException e) {
      throw new ProgramException(String.valueOf(e.getMessage()), e);
    }
  }
}
