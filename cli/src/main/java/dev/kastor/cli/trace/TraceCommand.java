package dev.kastor.cli.trace;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code kastor trace}. */
@Command(
    name = "trace",
    description =
        "Reads, converts and makes the workloads and applications that simulations replay.",
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
      TraceDescribeCommand.class,
      TraceConvertCommand.class,
      TraceGenerateCommand.class,
      TraceFitCommand.class
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  kastor trace describe traces/workloads/mixed-40.csv",
      "  kastor trace convert Venus/cluster_log.csv venus.csv",
      "  kastor trace generate philly.csv --like philly --jobs 1000 --days 7",
      "  kastor trace fit profiles/ applications.csv"
    })
public final class TraceCommand implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public void run() {
    spec.commandLine().usage(spec.commandLine().getOut());
  }
}
