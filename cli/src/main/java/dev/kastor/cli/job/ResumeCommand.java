package dev.kastor.cli.job;

import dev.kastor.cli.connect.ClusterOptions;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code kastor resume}. */
@Command(
    name = "resume",
    description = "Lets suspended jobs go on from their checkpoint.",
    footerHeading = "%nExamples:%n",
    footer = "  kastor resume bert")
public final class ResumeCommand implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();

  @ArgGroup(validate = false, heading = ClusterOptions.HEADING)
  private ClusterOptions cluster = new ClusterOptions();

  @Mixin private JobChoice jobs = new JobChoice();

  @Override
  public void run() {
    new Changing(cluster, spec.commandLine().getOut()).suspend(jobs, false);
  }
}
