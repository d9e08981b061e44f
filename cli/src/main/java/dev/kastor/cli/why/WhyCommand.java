package dev.kastor.cli.why;

import dev.kastor.cli.connect.ClusterOptions;
import dev.kastor.cli.terminal.OutputOptions;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code kastor why}. */
@Command(
    name = "why",
    description = {
      "Says why a job has its size or waits, what would have to change for it to get more GPUs, and"
          + " when it is expected to start and finish.",
      "The numbers come from the operator; without it only the last change is known."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  kastor why bert",
      "  kastor why bert -o wide    # bids and prices too",
      "  kastor why bert -o json | jq .decision.numbers"
    })
public final class WhyCommand implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();

  @ArgGroup(validate = false, heading = ClusterOptions.HEADING)
  private ClusterOptions cluster = new ClusterOptions();

  @Mixin private OutputOptions output = new OutputOptions();

  @Parameters(paramLabel = "JOB", description = "Name of the job.")
  private String job = "";

  @Override
  public void run() {
    new Why(cluster, spec.commandLine().getOut(), spec.commandLine().getErr())
        .run(job, output.output());
  }
}
