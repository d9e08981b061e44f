package dev.kastor.cli.job;

import dev.kastor.cli.connect.ClusterOptions;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code kastor suspend}. */
@Command(
    name = "suspend",
    description = "Lets jobs save a checkpoint and give their replicas back.",
    footerHeading = "%nExamples:%n",
    footer = "  kastor suspend bert")
public final class SuspendCommand implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();

  @ArgGroup(validate = false, heading = ClusterOptions.HEADING)
  private ClusterOptions cluster = new ClusterOptions();

  @Mixin private JobChoice jobs = new JobChoice();

  @Override
  public void run() {
    new Changing(cluster, spec.commandLine().getOut()).suspend(jobs, true);
  }
}
