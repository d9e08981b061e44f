package dev.kastor.cli.job;

import dev.kastor.cli.connect.ClusterOptions;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code kastor rm}. */
@Command(
    name = "rm",
    description = "Removes jobs with their pods; checkpoints stay on disk.",
    footerHeading = "%nExamples:%n",
    footer = {"  kastor rm bert", "  kastor rm --all -n scratch", "  kastor rm -l sweep=old"})
public final class RmCommand implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();

  @ArgGroup(validate = false, heading = ClusterOptions.HEADING)
  private ClusterOptions cluster = new ClusterOptions();

  @Mixin private JobChoice jobs = new JobChoice();

  @Override
  public void run() {
    new Changing(cluster, spec.commandLine().getOut()).remove(jobs);
  }
}
