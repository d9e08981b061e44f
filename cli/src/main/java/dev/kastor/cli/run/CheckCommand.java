package dev.kastor.cli.run;

import dev.kastor.cli.local.Foreground;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code kastor check}. */
@Command(
    name = "check",
    description = {
      "Checks a script that uses the kastor package before it runs as an elastic job.",
      "Its first steps are taken by one replica, by two, and by replicas that join, take other"
          + " batches, are killed and go on from a checkpoint, all on this machine and without a"
          + " cluster. A line for each says what holds, and what to change where it does not.",
      "The script runs as it is, in six processes, at most two at a time, which write what it writes."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  kastor check --batch 128 -- python train.py --epochs 30",
      "  kastor check --batch 64 --per-replica 512 --keep logs -- python train.py"
    })
public final class CheckCommand implements Callable<Integer> {
  private static final int LEAST_BATCH = 4;

  @Option(
      names = {"-b", "--batch"},
      paramLabel = "N",
      required = true,
      description = "Global batch that the script was written for.")
  private int batch;

  @Option(
      names = "--per-replica",
      paramLabel = "MAX",
      description = "Most examples that one replica takes at once (4 times the batch by default).")
  private @Nullable Integer perReplica;

  @Option(
      names = "--no-accumulation",
      description =
          "Never add up several passes before an update: for a script with several optimizers.")
  private boolean noAccumulation;

  @Option(
      names = "--steps",
      paramLabel = "N",
      defaultValue = "30",
      description = "Steps by one and by two replicas (default: ${DEFAULT-VALUE}).")
  private int steps = 30;

  @Option(
      names = "--patience",
      paramLabel = "SECONDS",
      defaultValue = "120",
      description = "Longest wait for anything (default: ${DEFAULT-VALUE}).")
  private int patience = 120;

  @Option(
      names = "--keep",
      paramLabel = "FOLDER",
      description = "New folder in which logs, outcomes and checkpoints stay.")
  private @Nullable Path keep;

  @Parameters(
      paramLabel = "COMMAND",
      arity = "1..*",
      description = "Interpreter, script and its arguments, after --.")
  private List<String> command = List.of();

  @Override
  public Integer call() {
    if (batch < LEAST_BATCH) {
      throw new CliException(
          ExitCode.USAGE,
          "--batch %d: two replicas with two passes each need at least %d"
              .formatted(batch, LEAST_BATCH));
    }
    if (perReplica != null && perReplica < batch) {
      throw new CliException(
          ExitCode.USAGE,
          "--per-replica %d: one replica alone takes the whole batch of %d"
              .formatted(perReplica, batch));
    }
    if (steps < 1 || patience < 1) {
      throw new CliException(ExitCode.USAGE, "--steps and --patience must be above 0");
    }
    Manifest.requireFiles(command, Path.of("").toAbsolutePath());
    return Foreground.run(this::check);
  }

  private int check() throws IOException, InterruptedException {
    List<String> options = new ArrayList<>(List.of("--batch", Integer.toString(batch)));
    options.addAll(List.of("--steps", Integer.toString(steps)));
    options.addAll(List.of("--patience", Integer.toString(patience)));
    if (perReplica != null) {
      options.addAll(List.of("--per-replica", perReplica.toString()));
    }
    if (noAccumulation) {
      options.add("--no-accumulation");
    }
    if (keep != null) {
      options.addAll(List.of("--keep", keep.toString()));
    }
    options.add("--");
    options.addAll(command);
    return PythonPackage.of(command.getFirst()).run("kastor.check", options);
  }
}
