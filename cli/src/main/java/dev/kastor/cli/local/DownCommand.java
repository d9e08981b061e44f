package dev.kastor.cli.local;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code kastor down}. */
@Command(
    name = "down",
    description = "Ends what kastor up started on KASTOR_HOME, and waits until it is gone.",
    footerHeading = "%nExamples:%n",
    footer = "  kastor down")
public final class DownCommand implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public void run() {
    new Down(spec.commandLine().getOut()).run();
  }
}
