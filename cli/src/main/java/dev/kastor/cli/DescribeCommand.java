package dev.kastor.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code kastor describe}. */
@Command(
    name = "describe",
    aliases = "why",
    description = "Tells all about a job: its size and why, goodput, rescales, events.",
    footerHeading = "%nExamples:%n",
    footer = {"  kastor describe bert", "  kastor describe bert --json"})
final class DescribeCommand implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private ClusterOptions cluster = new ClusterOptions();

  @Parameters(paramLabel = "JOB", description = "Name of the job.")
  private String job = "";

  @Option(names = "--json", description = "Print JSON: the resource and its events.")
  private boolean json;

  @Override
  public void run() {
    new Reading(cluster, spec.commandLine().getOut()).describe(job, json);
  }
}
