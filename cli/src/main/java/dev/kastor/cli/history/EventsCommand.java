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

/** {@code kastor events}. */
@Command(
    name = "events",
    description = {
      "Lists Kubernetes events of jobs, of their pods and of the operator, the newest last.",
      "The operator's are shown without JOB, to those who may read its namespace."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  kastor events bert",
      "  kastor events -A --watch",
      "  kastor events bert -o json | jq '.events[].reason'"
    })
public final class EventsCommand implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();

  @ArgGroup(validate = false, heading = ClusterOptions.HEADING)
  private ClusterOptions cluster = new ClusterOptions();

  @Mixin private OutputOptions output = new OutputOptions();

  @Parameters(paramLabel = "JOB", arity = "0..1", description = "Name of a job; all by default.")
  private @Nullable String job;

  @Option(
      names = {"-A", "--all-namespaces"},
      description = "Events of all namespaces.")
  private boolean all;

  @Option(
      names = {"-w", "--watch"},
      description = "Go on with new ones until Ctrl-C; with -o json one document a line.")
  private boolean watch;

  @Override
  public void run() {
    try {
      new Events(cluster, spec.commandLine().getOut()).run(job, all, watch, output.output());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
