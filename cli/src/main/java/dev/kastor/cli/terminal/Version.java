package dev.kastor.cli.terminal;

import dev.kastor.local.Installation;
import dev.kastor.local.LocalException;
import picocli.CommandLine.IVersionProvider;

/** Version of this build and of Java; of a release its commit as well. */
public final class Version implements IVersionProvider {
  @Override
  public String[] getVersion() throws LocalException {
    return new String[] {
      "kastor " + number() + commit(), "java   " + Runtime.version(),
    };
  }

  public static String number() {
    String version = Version.class.getPackage().getImplementationVersion();
    return version == null ? "(unpackaged)" : version;
  }

  private static String commit() throws LocalException {
    // The launcher says where the installation is; tests that run in one process have none.
    return System.getenv("KASTOR_INSTALL") == null
        ? ""
        : Installation.current().commit().map(" (commit %s)"::formatted).orElse("");
  }
}
