package dev.kastor.cli.bench;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code kastor bench}. */
@Command(
    name = "bench",
    description =
        "Measures what replays, decisions and training steps cost on this machine, and what policies"
            + " achieve.",
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
      BenchReplayCommand.class,
      BenchDecideCommand.class,
      BenchPolicyCommand.class,
      BenchEngineCommand.class
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  taskset -c 0 kastor bench replay --traces ../shared/traces --only tiresias",
      "  taskset -c 0 kastor bench decide --json decide.json",
      "  kastor bench policy --traces ../shared/traces --json policy.json",
      "  kastor bench engine --json engine.json"
    })
public final class BenchCommand implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public void run() {
    spec.commandLine().usage(spec.commandLine().getOut());
  }
}
