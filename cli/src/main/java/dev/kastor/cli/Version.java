package dev.kastor.cli;

import picocli.CommandLine.IVersionProvider;

/** Which build this is. */
final class Version implements IVersionProvider {
  @Override
  public String[] getVersion() {
    return new String[] {
      "kastor " + number(), "java   " + Runtime.version(),
    };
  }

  static String number() {
    String version = Version.class.getPackage().getImplementationVersion();
    return version == null ? "(unpackaged)" : version;
  }
}
