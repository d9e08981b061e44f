package dev.kastor.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code kastor version}. */
@Command(
    name = "version",
    description = "Prints the versions of Kastor and Java.",
    footerHeading = "%nExamples:%n",
    footer = "  kastor version")
final class VersionCommand implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public void run() {
    spec.commandLine().printVersionHelp(spec.commandLine().getOut());
  }
}
