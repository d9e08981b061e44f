package dev.kastor.cli.queue;

import dev.kastor.cli.connect.ClusterOptions;
import dev.kastor.cli.terminal.OutputOptions;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code kastor queue}. */
@Command(
    name = "queue",
    aliases = "queues",
    description = {
      "Lists queues: cohort, weight, jobs, GPUs held, quota, what is borrowed and lent of it, and the"
          + " share that the weight deserves and the jobs obtained.",
      "A queue deserves GPUs in proportion to its weight, no more than its jobs may have; what one"
          + " does not want goes to the others."
    },
    footerHeading = "%nExamples:%n",
    footer = {"  kastor queue", "  kastor queue ls -o json"})
public final class QueueCommand implements Runnable {
  /** The only thing that can be done with queues. */
  enum Verb {
    LS
  }

  @Spec private CommandSpec spec = CommandSpec.create();

  @ArgGroup(validate = false, heading = ClusterOptions.HEADING)
  private ClusterOptions cluster = new ClusterOptions();

  @Mixin private OutputOptions output = new OutputOptions();

  @Parameters(paramLabel = "ls", arity = "0..1", description = "Lists them, as it does without.")
  private Verb verb = Verb.LS;

  @Override
  public void run() {
    switch (verb) {
      case LS ->
          new Queues(cluster, spec.commandLine().getOut(), spec.commandLine().getErr())
              .list(output.output());
    }
  }
}
