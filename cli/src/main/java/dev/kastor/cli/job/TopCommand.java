package dev.kastor.cli.job;

import dev.kastor.cli.connect.ClusterOptions;
import java.util.concurrent.Callable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code kastor top}. */
@Command(
    name = "top",
    description = {
      "Shows jobs in a table that keeps itself up to date, those that run first: of all",
      "namespaces, or of the one that -n names.",
      "Keys: arrows, j and k, space and b scroll; s sorts by another column; q quits."
    },
    footerHeading = "%nExamples:%n",
    footer = {"  kastor top", "  kastor top -n research --interval 5"})
public final class TopCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @ArgGroup(validate = false, heading = ClusterOptions.HEADING)
  private ClusterOptions cluster = new ClusterOptions();

  @Option(
      names = "--interval",
      paramLabel = "SECONDS",
      defaultValue = "1",
      description = "Seconds between looks (default: ${DEFAULT-VALUE}).")
  private double intervalSeconds = 1;

  @Option(names = "--once", description = "Print the table once.")
  private boolean once;

  @Override
  public Integer call() {
    return new Top(cluster, spec.commandLine().getOut()).run(intervalSeconds, once);
  }
}
