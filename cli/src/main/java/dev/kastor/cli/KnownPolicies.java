package dev.kastor.cli;

import dev.kastor.local.LocalException;
import dev.kastor.local.StateFolder;
import dev.kastor.plugin.Registry;
import dev.kastor.plugin.jar.PluginException;
import dev.kastor.plugin.jar.PluginFolder;
import dev.kastor.scheduler.policy.PolicyPlugin;
import dev.kastor.scheduler.policy.registry.Policies;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;

/** Policies that commands take: Kastor's own and those of the jars in the folder of plug-ins. */
final class KnownPolicies {
  private KnownPolicies() {}

  /** Folder of plug-ins of the user. */
  static Path folder() {
    return StateFolder.plugins(StateFolder.home());
  }

  /** All of them. */
  static Registry<PolicyPlugin> read() {
    try {
      StateFolder.check(StateFolder.home());
      return new PluginFolder(folder()).addTo(Policies.BUILT_IN, PolicyPlugin.class);
    } catch (PluginException | LocalException | IOException e) {
      throw new CliException(ExitCode.FAILED, String.valueOf(e.getMessage()), e);
    }
  }

  /** Names for help and completion; those of Kastor alone where the jars cannot be used. */
  static final class Names implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
      return names().iterator();
    }

    private static List<String> names() {
      try {
        return read().names();
      } catch (CliException e) {
        // The command itself will say why; its help must not fail.
        return Policies.names();
      }
    }
  }
}
