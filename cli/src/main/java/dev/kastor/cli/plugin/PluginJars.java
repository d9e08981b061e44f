package dev.kastor.cli.plugin;

import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.local.LocalException;
import dev.kastor.local.StateFolder;
import dev.kastor.plugin.Plugin;
import dev.kastor.plugin.Registry;
import dev.kastor.plugin.jar.PluginException;
import dev.kastor.plugin.jar.PluginFolder;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** Plug-ins of the user: jars in the folder {@code plugins} of KASTOR_HOME. */
public final class PluginJars {
  private PluginJars() {}

  public static Path folder() {
    return StateFolder.plugins(StateFolder.home());
  }

  /** The folder, whose jars nobody else may write to. */
  public static Path checkedFolder() {
    try {
      StateFolder.check(StateFolder.home());
      return folder();
    } catch (LocalException | IOException e) {
      throw new CliException(ExitCode.FAILED, String.valueOf(e.getMessage()), e);
    }
  }

  /** The built-in plug-ins of a kind and those of the jars. */
  public static <P extends Plugin> Registry<P> registry(Registry<P> builtIn, Class<P> type) {
    try {
      return new PluginFolder(checkedFolder()).addTo(builtIn, type);
    } catch (PluginException e) {
      throw new CliException(ExitCode.FAILED, String.valueOf(e.getMessage()), e);
    }
  }

  /** Names for help and completion; the built-in ones alone where the jars cannot be used. */
  public static <P extends Plugin> List<String> names(Registry<P> builtIn, Class<P> type) {
    try {
      return registry(builtIn, type).names();
    } catch (CliException e) {
      // The command itself will say why; its help must not fail.
      return builtIn.names();
    }
  }
}
