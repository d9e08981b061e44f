package dev.kastor.cli.job;

import dev.kastor.cli.connect.ClusterOptions;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code kastor get}. */
@Command(
    name = "get",
    description = "Prints a job as the cluster has it.",
    footerHeading = "%nExamples:%n",
    footer = {"  kastor get bert", "  kastor get bert -o json | jq .status.training"})
public final class GetCommand implements Runnable {
  /** Formats. */
  enum Output {
    YAML,
    JSON
  }

  @Spec private CommandSpec spec = CommandSpec.create();

  @ArgGroup(validate = false, heading = ClusterOptions.HEADING)
  private ClusterOptions cluster = new ClusterOptions();

  @Parameters(paramLabel = "JOB", description = "Name of the job.")
  private String job = "";

  @Option(
      names = {"-o", "--output"},
      paramLabel = "yaml|json",
      defaultValue = "yaml",
      description = "Format (default: ${DEFAULT-VALUE}).")
  private Output output = Output.YAML;

  @Override
  public void run() {
    new Reading(cluster, spec.commandLine().getOut()).get(job, output);
  }
}
