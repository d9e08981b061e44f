package dev.kastor.cli.terminal;

import picocli.CommandLine.IVersionProvider;

/** Version of this build and of Java. */
public final class Version implements IVersionProvider {
  @Override
  public String[] getVersion() {
    return new String[] {
      "kastor " + number(), "java   " + Runtime.version(),
    };
  }

  public static String number() {
    String version = Version.class.getPackage().getImplementationVersion();
    return version == null ? "(unpackaged)" : version;
  }
}
