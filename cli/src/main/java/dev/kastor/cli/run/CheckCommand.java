package dev.kastor.cli.run;

import dev.kastor.cli.local.Foreground;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
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
  private static final long END_SECONDS = 20;
  private static final String FINDS =
      "import importlib.util, sys; sys.exit(importlib.util.find_spec('kastor') is None)";

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
    String interpreter = interpreter(command.getFirst());
    if (run(List.of(interpreter, "-c", FINDS)) != 0) {
      throw new CliException(
          ExitCode.USAGE,
          "%s does not find the package kastor. Install it: kastor wheel, then pip install what it wrote (docs/pytorch.md)"
              .formatted(interpreter));
    }
    List<String> check = new ArrayList<>(List.of(interpreter, "-m", "kastor.check"));
    check.addAll(List.of("--batch", Integer.toString(batch)));
    check.addAll(List.of("--steps", Integer.toString(steps)));
    check.addAll(List.of("--patience", Integer.toString(patience)));
    if (perReplica != null) {
      check.addAll(List.of("--per-replica", perReplica.toString()));
    }
    if (noAccumulation) {
      check.add("--no-accumulation");
    }
    if (keep != null) {
      check.addAll(List.of("--keep", keep.toString()));
    }
    check.add("--");
    check.addAll(command);
    return run(check);
  }

  /** The command's own where it is Python: the package is where the script looks for it. */
  private static String interpreter(String program) {
    return Path.of(program).getFileName().toString().startsWith("python") ? program : "python3";
  }

  private static int run(List<String> program) throws IOException, InterruptedException {
    Process process;
    try {
      process = new ProcessBuilder(program).inheritIO().start();
    } catch (IOException e) {
      throw new CliException(
          ExitCode.USAGE, "cannot start %s: %s".formatted(program.getFirst(), e.getMessage()), e);
    }
    try {
      return process.waitFor();
    } finally {
      // The check ends its replicas before it ends itself.
      process.destroy();
      process.waitFor(END_SECONDS, TimeUnit.SECONDS);
    }
  }
}
