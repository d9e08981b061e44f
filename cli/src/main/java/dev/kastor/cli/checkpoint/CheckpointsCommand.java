package dev.kastor.cli.checkpoint;

import dev.kastor.cli.connect.ClusterOptions;
import dev.kastor.cli.terminal.OutputOptions;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code kastor checkpoints}. */
@Command(
    name = "checkpoints",
    description = {
      "Lists, copies and removes checkpoints of the jobs of this machine's cluster.",
      "Those of a removed job stay until somebody removes them here."
    },
    synopsisSubcommandLabel = "ls|get|rm",
    subcommands = {
      CheckpointsCommand.Ls.class,
      CheckpointsCommand.Get.class,
      CheckpointsCommand.Rm.class
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  kastor checkpoints ls",
      "  kastor checkpoints get bert -o bert.ckpt",
      "  kastor checkpoints rm --removed"
    })
public final class CheckpointsCommand implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public void run() {
    spec.commandLine().usage(spec.commandLine().getOut());
  }

  /** Lists them. */
  @Command(
      name = "ls",
      description = "Lists checkpoints, the newest of each job first.",
      footerHeading = "%nExamples:%n",
      footer = {"  kastor checkpoints ls", "  kastor checkpoints ls bert -o wide"})
  static final class Ls implements Runnable {
    @Spec private CommandSpec spec = CommandSpec.create();

    @ArgGroup(validate = false, heading = ClusterOptions.HEADING)
    private ClusterOptions cluster = new ClusterOptions();

    @Mixin private OutputOptions output = new OutputOptions();

    @Parameters(paramLabel = "JOB", arity = "0..1", description = "Those of one job alone.")
    private @Nullable String job;

    @Override
    public void run() {
      new Checkpoints(cluster, spec.commandLine().getOut()).list(job, output.output());
    }
  }

  /** Copies one. */
  @Command(
      name = "get",
      description = "Copies the newest checkpoint of a job to a file.",
      footerHeading = "%nExamples:%n",
      footer = {
        "  kastor checkpoints get bert",
        "  kastor checkpoints get bert --step 1200 -o bert.ckpt"
      })
  static final class Get implements Runnable {
    @Spec private CommandSpec spec = CommandSpec.create();

    @ArgGroup(validate = false, heading = ClusterOptions.HEADING)
    private ClusterOptions cluster = new ClusterOptions();

    @Parameters(paramLabel = "JOB", description = "Name of the job; it may be removed already.")
    private String job = "";

    @Option(names = "--step", paramLabel = "N", description = "That of this step.")
    private @Nullable Long step;

    @Option(
        names = {"-o", "--out"},
        paramLabel = "FILE",
        description = "File or folder to write to (default: JOB-step-N with its ending).")
    private @Nullable Path out;

    @Override
    public void run() {
      new Checkpoints(cluster, spec.commandLine().getOut())
          .copy(job, Optional.ofNullable(step), out);
    }
  }

  /** Removes some. */
  @Command(
      name = "rm",
      description = "Removes all checkpoints of jobs that have ended or were removed.",
      footerHeading = "%nExamples:%n",
      footer = {"  kastor checkpoints rm bert", "  kastor checkpoints rm --removed"})
  static final class Rm implements Runnable {
    @Spec private CommandSpec spec = CommandSpec.create();

    @ArgGroup(validate = false, heading = ClusterOptions.HEADING)
    private ClusterOptions cluster = new ClusterOptions();

    @Parameters(paramLabel = "JOB", arity = "0..*", description = "Names of jobs.")
    private List<String> jobs = List.of();

    @Option(names = "--removed", description = "Those of all jobs that were removed.")
    private boolean removed;

    @Override
    public void run() {
      new Checkpoints(cluster, spec.commandLine().getOut()).remove(jobs, removed);
    }
  }
}
