package dev.kastor.cli.job;

import dev.kastor.cli.connect.ClusterOptions;
import dev.kastor.cli.terminal.OutputOptions;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code kastor describe}. */
@Command(
    name = "describe",
    description = "Tells all about a job: its size and why, goodput, rescales, events.",
    footerHeading = "%nExamples:%n",
    footer = {"  kastor describe bert", "  kastor describe bert -o json"})
public final class DescribeCommand implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();

  @ArgGroup(validate = false, heading = ClusterOptions.HEADING)
  private ClusterOptions cluster = new ClusterOptions();

  @Mixin private OutputOptions output = new OutputOptions();

  @Parameters(paramLabel = "JOB", description = "Name of the job.")
  private String job = "";

  @Override
  public void run() {
    new Reading(cluster, spec.commandLine().getOut()).describe(job, output.output());
  }
}
