package dev.kastor.cli.job;

import dev.kastor.cli.connect.ClusterOptions;
import dev.kastor.cli.terminal.OutputOptions;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code kastor ls}. */
@Command(
    name = "ls",
    aliases = "list",
    description = "Lists jobs with their size, batch and progress.",
    footerHeading = "%nExamples:%n",
    footer = {
      "  kastor ls",
      "  kastor ls -A -o wide",
      "  kastor ls -A -o json | jq '.jobs[].name'"
    })
public final class LsCommand implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();

  @ArgGroup(validate = false, heading = ClusterOptions.HEADING)
  private ClusterOptions cluster = new ClusterOptions();

  @Mixin private OutputOptions output = new OutputOptions();

  @Option(
      names = {"-A", "--all-namespaces"},
      description = "Jobs of all namespaces.")
  private boolean all;

  @Option(
      names = {"-l", "--selector"},
      paramLabel = "SELECTOR",
      description = "Jobs with these labels, such as sweep=lr.")
  private @Nullable String selector;

  @Override
  public void run() {
    new Reading(cluster, spec.commandLine().getOut()).list(all, selector, output.output());
  }
}
