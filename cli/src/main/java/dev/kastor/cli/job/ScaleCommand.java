package dev.kastor.cli.job;

import dev.kastor.cli.connect.ClusterOptions;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code kastor scale}. */
@Command(
    name = "scale",
    description = "Changes how few and how many replicas a job may run with.",
    footerHeading = "%nExamples:%n",
    footer = {"  kastor scale bert --max 8", "  kastor scale bert --replicas 4"})
public final class ScaleCommand implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();

  @ArgGroup(validate = false, heading = ClusterOptions.HEADING)
  private ClusterOptions cluster = new ClusterOptions();

  @Parameters(paramLabel = "JOB", description = "Name of the job.")
  private String job = "";

  @Option(names = "--min", paramLabel = "N", description = "Fewest replicas.")
  private @Nullable Integer min;

  @Option(names = "--max", paramLabel = "N", description = "Most replicas.")
  private @Nullable Integer max;

  @Option(
      names = "--replicas",
      paramLabel = "N",
      description = "Exactly so many: the same as --min N --max N.")
  private @Nullable Integer replicas;

  @Override
  public void run() {
    new Scaling(cluster, spec.commandLine().getOut()).scale(job, min, max, replicas);
  }
}
