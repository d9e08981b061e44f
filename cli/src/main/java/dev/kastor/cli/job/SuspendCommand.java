package dev.kastor.cli.job;

import dev.kastor.cli.connect.ClusterOptions;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code kastor suspend}. */
@Command(
    name = "suspend",
    description = "Lets jobs save a checkpoint and give their replicas back.",
    footerHeading = "%nExamples:%n",
    footer = "  kastor suspend bert")
public final class SuspendCommand implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private ClusterOptions cluster = new ClusterOptions();

  @Parameters(paramLabel = "JOB", arity = "1..*", description = "Names of jobs.")
  private List<String> jobs = List.of();

  @Override
  public void run() {
    new Changing(cluster, spec.commandLine().getOut()).suspend(jobs, true);
  }
}
