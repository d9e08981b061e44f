package dev.kastor.cli.job;

import dev.kastor.cli.connect.ClusterOptions;
import java.time.Duration;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code kastor stop}. */
@Command(
    name = "stop",
    description = {
      "Suspends jobs and waits until their state is saved and nothing of them runs.",
      "The jobs stay; resume goes on at the checkpoint, rm removes them."
    },
    footerHeading = "%nExamples:%n",
    footer = {"  kastor stop bert && kastor rm bert", "  kastor stop bert --timeout 30"})
public final class StopCommand implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();

  @ArgGroup(validate = false, heading = ClusterOptions.HEADING)
  private ClusterOptions cluster = new ClusterOptions();

  @Mixin private JobChoice jobs = new JobChoice();

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      defaultValue = "120",
      description = "How long to wait (default: ${DEFAULT-VALUE}).")
  private int timeoutSeconds = 120;

  @Override
  public void run() {
    try {
      new Changing(cluster, spec.commandLine().getOut())
          .stop(jobs, Duration.ofSeconds(timeoutSeconds));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
