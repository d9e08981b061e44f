package dev.kastor.cli.job;

import dev.kastor.cli.connect.ClusterOptions;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code kastor pin}. */
@Command(
    name = "pin",
    description = {
      "Makes the scheduler leave a job's size or place alone.",
      "--here keeps the replicas and nodes that it has; --at N lets it run with N replicas, no more"
          + " and no fewer, wherever they fit."
    },
    footerHeading = "%nExamples:%n",
    footer = {"  kastor pin bert --here", "  kastor pin bert --at 4", "  kastor pin bert --unpin"})
public final class PinCommand implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();

  @ArgGroup(validate = false, heading = ClusterOptions.HEADING)
  private ClusterOptions cluster = new ClusterOptions();

  @Parameters(paramLabel = "JOB", description = "Name of the job.")
  private String job = "";

  @ArgGroup(exclusive = true, multiplicity = "1")
  private How how = new How();

  /** One of them. */
  static final class How {
    @Option(names = "--here", description = "Keep the replicas and nodes that it has.")
    private boolean here;

    @Option(names = "--at", paramLabel = "N", description = "Run with so many replicas.")
    private @Nullable Integer replicas;

    @Option(names = "--unpin", description = "Let the scheduler decide again.")
    private boolean unpin;
  }

  @Override
  public void run() {
    Scaling scaling = new Scaling(cluster, spec.commandLine().getOut());
    if (how.here) {
      scaling.pinHere(job);
    }
    if (how.replicas != null) {
      scaling.pinAt(job, how.replicas);
    }
    if (how.unpin) {
      scaling.unpin(job);
    }
  }
}
