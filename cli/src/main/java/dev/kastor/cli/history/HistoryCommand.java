package dev.kastor.cli.history;

import dev.kastor.cli.connect.ClusterOptions;
import dev.kastor.cli.terminal.OutputOptions;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code kastor history}. */
@Command(
    name = "history",
    description = {
      "Shows how a job's size, batch and goodput went over time; without JOB, the jobs that ended.",
      "The operator keeps two hours of living jobs and of the newest 100 that ended, in memory;"
          + " without it a job's events are shown."
    },
    footerHeading = "%nExamples:%n",
    footer = {"  kastor history", "  kastor history bert", "  kastor history bert -o json"})
public final class HistoryCommand implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();

  @ArgGroup(validate = false, heading = ClusterOptions.HEADING)
  private ClusterOptions cluster = new ClusterOptions();

  @Mixin private OutputOptions output = new OutputOptions();

  @Parameters(paramLabel = "JOB", arity = "0..1", description = "Name of a job.")
  private @Nullable String job;

  @Option(
      names = {"-A", "--all-namespaces"},
      description = "Ended jobs of all namespaces.")
  private boolean all;

  @Override
  public void run() {
    History history =
        new History(cluster, spec.commandLine().getOut(), spec.commandLine().getErr());
    if (job == null) {
      history.ended(all, output.output());
    } else {
      history.of(job, output.output());
    }
  }
}
