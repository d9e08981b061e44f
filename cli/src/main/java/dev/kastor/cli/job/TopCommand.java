package dev.kastor.cli.job;

import dev.kastor.cli.connect.ClusterOptions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code kastor top}. */
@Command(
    name = "top",
    description = "Shows jobs in a table that keeps itself up to date, until Ctrl-C.",
    footerHeading = "%nExamples:%n",
    footer = {"  kastor top", "  kastor top --interval 5"})
public final class TopCommand implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private ClusterOptions cluster = new ClusterOptions();

  @Option(
      names = "--interval",
      paramLabel = "SECONDS",
      defaultValue = "1",
      description = "Seconds between looks (default: ${DEFAULT-VALUE}).")
  private double intervalSeconds = 1;

  @Option(names = "--once", description = "Print the table once.")
  private boolean once;

  @Override
  public void run() {
    try {
      new Top(cluster, spec.commandLine().getOut()).run(intervalSeconds, once);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
