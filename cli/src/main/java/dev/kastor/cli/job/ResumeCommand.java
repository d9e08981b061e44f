package dev.kastor.cli.job;

import dev.kastor.cli.connect.ClusterOptions;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code kastor resume}. */
@Command(
    name = "resume",
    description = "Lets suspended jobs go on from their checkpoint.",
    footerHeading = "%nExamples:%n",
    footer = "  kastor resume bert")
public final class ResumeCommand implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private ClusterOptions cluster = new ClusterOptions();

  @Parameters(paramLabel = "JOB", arity = "1..*", description = "Names of jobs.")
  private List<String> jobs = List.of();

  @Override
  public void run() {
    new Changing(cluster, spec.commandLine().getOut()).suspend(jobs, false);
  }
}
