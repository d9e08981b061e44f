package dev.kastor.cli.run;

import dev.kastor.cli.connect.ClusterOptions;
import dev.kastor.cli.job.SubmitOptions;
import dev.kastor.cli.local.Foreground;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.cli.terminal.Output;
import dev.kastor.crds.trainingjob.ElasticSpec;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code kastor run}. */
@Command(
    name = "run",
    description = {
      "Runs a command as a TrainingJob and shows its output until it ends.",
      "With --batch the command is a script that uses the kastor package: replicas come and go and"
          + " the batch changes while it trains. Without, it is a gang of one size; or, with"
          + " --restart, one that starts again for each change of its size.",
      "On the cluster of this machine it runs in this folder, with this shell's interpreter (PATH,"
          + " VIRTUAL_ENV, CONDA_PREFIX, PYTHONPATH, LD_LIBRARY_PATH). Elsewhere --image is needed."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  kastor run --replicas 1-4 --batch 128 -- python train.py --epochs 30",
      "  kastor run --replicas 2 -- torchrun train.py",
      "  kastor run --replicas 2 --gpus-per-replica 8 -- torchrun train_fsdp.py",
      "  kastor run --replicas 1-8 --batch 256-8192 --image lab/resnet:3 --dry-run -- python"
          + " train.py",
      "",
      "Ctrl-C asks whether to stop the job or to let it go on."
    })
public final class RunCommand implements Callable<Integer> {
  /** Formats. */
  enum Format {
    YAML,
    JSON
  }

  @Spec private CommandSpec spec = CommandSpec.create();

  @ArgGroup(validate = false, heading = ClusterOptions.HEADING)
  private ClusterOptions cluster = new ClusterOptions();

  @Option(
      names = "--name",
      paramLabel = "NAME",
      description = "Name of the job; by default that of its script with four letters.")
  private @Nullable String name;

  @Option(
      names = {"-r", "--replicas"},
      paramLabel = "N|MIN-MAX",
      defaultValue = "1",
      description = "How many replicas (default: ${DEFAULT-VALUE}).")
  private String replicas = "1";

  @Option(
      names = "--gpus-per-replica",
      paramLabel = "K",
      defaultValue = "1",
      description =
          "GPUs (slots) of each replica, all of one node: for a model that is sharded over them"
              + " (default: ${DEFAULT-VALUE}).")
  private int gpusPerReplica = 1;

  @Option(
      names = {"-b", "--batch"},
      paramLabel = "N|N-MAX",
      description =
          "Global batch that the script was written for, and the largest that it may grow to (16"
              + " times as large by default).")
  private @Nullable String batch;

  @Option(
      names = "--per-replica",
      paramLabel = "MAX|MIN-MAX",
      description = "Examples that one replica takes at once (default: 1-256).")
  private @Nullable String perReplica;

  @Option(
      names = "--no-accumulation",
      description =
          "Never add up several passes before an update: for a script with several optimizers.")
  private boolean noAccumulation;

  @Option(
      names = "--restart",
      description =
          "The command goes on from its own checkpoint in another number of replicas: a change of"
              + " size stops all and starts all.")
  private boolean restart;

  @Option(
      names = "--image",
      paramLabel = "IMAGE",
      description = "Image of the container; not needed on the cluster of this machine.")
  private @Nullable String image;

  @Option(
      names = {"-e", "--env"},
      paramLabel = "NAME[=VALUE]",
      description = "Variable of the command, with this shell's value unless one is given.")
  private List<String> variables = List.of();

  @Mixin private SubmitOptions options = new SubmitOptions();

  @Option(names = "--detach", description = "Submit it and return.")
  private boolean detach;

  @Option(names = "--dry-run", description = "Print the TrainingJob and submit nothing.")
  private boolean dryRun;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "yaml|json",
      defaultValue = "yaml",
      description = "Format of --dry-run (default: ${DEFAULT-VALUE}).")
  private Format output = Format.YAML;

  @Parameters(
      paramLabel = "COMMAND",
      arity = "1..*",
      description = "Program and its arguments, after --.")
  private List<String> command = List.of();

  @Override
  public Integer call() {
    GenericKubernetesResource job = manifest().job();
    options.addTo(job);
    if (dryRun) {
      Output.valueOf(output.name()).print(job, spec.commandLine().getOut());
      return ExitCode.OK;
    }
    return Foreground.run(() ->
        new Run(cluster, spec.commandLine().getOut(), spec.commandLine().getErr())
            .run(job, options, detach, remedy()));
  }

  /** Advice for an elastic script whose replicas run on this machine; empty for other commands. */
  private String remedy() {
    return batch == null || image != null
        ? ""
        : "try its first steps by one and by two replicas: kastor check --batch %d%s -- %s"
            .formatted(
                Range.of("--batch", batch).min(),
                noAccumulation ? " --no-accumulation" : "",
                String.join(" ", command));
  }

  private Manifest manifest() {
    Range sizes = Range.of("--replicas", replicas);
    if (batch == null && !restart && !sizes.fixed()) {
      throw new CliException(
          ExitCode.USAGE,
          "--replicas %s: only a script that uses the kastor package can be resized while it trains. Say its batch with --batch N, or --restart if it goes on from its own checkpoint, or give one number of replicas"
              .formatted(replicas));
    }
    if (gpusPerReplica < 1 || gpusPerReplica > ElasticSpec.MOST_SLOTS) {
      throw new CliException(
          ExitCode.USAGE,
          "--gpus-per-replica must be from 1 to %d but is %d"
              .formatted(ElasticSpec.MOST_SLOTS, gpusPerReplica));
    }
    if (batch != null && restart) {
      throw new CliException(
          ExitCode.USAGE,
          "--restart: a script with --batch is resized while it trains. Leave one of them out");
    }
    if (batch == null && noAccumulation) {
      throw new CliException(
          ExitCode.USAGE,
          "--no-accumulation: it is for a script that uses the kastor package. Say its batch with --batch N, or leave it out");
    }
    Map<String, String> shell = System.getenv();
    boolean here = image == null;
    if (here && !dryRun && !cluster.target().local()) {
      throw new CliException(
          ExitCode.USAGE,
          "--image is needed: the replicas do not run on this machine. Name one that holds the"
              + " command");
    }
    if (here && !dryRun) {
      Manifest.requireFiles(command, Path.of("").toAbsolutePath());
    }
    Map<String, String> environment = here ? Manifest.interpreter(shell) : new TreeMap<>();
    // Else Python keeps what a script prints until it has some kilobytes, and somebody looks on.
    environment.put("PYTHONUNBUFFERED", "1");
    variables.forEach(variable -> add(environment, variable, shell));
    return new Manifest(
        name == null ? Manifest.nameAfter(command, ThreadLocalRandom.current()) : name,
        sizes,
        gpusPerReplica,
        restart,
        Optional.ofNullable(batch).map(text -> Range.of("--batch", text)),
        Optional.ofNullable(perReplica)
            .map(text -> Range.of("--per-replica", text))
            .map(range -> range.fixed() ? new Range(1, range.max()) : range),
        !noAccumulation,
        Optional.ofNullable(image),
        here ? Optional.of(Path.of("").toAbsolutePath().toString()) : Optional.empty(),
        environment,
        here ? Manifest.found(new ArrayList<>(command), shell.get("PATH")) : command);
  }

  private static void add(
      Map<String, String> environment, String variable, Map<String, String> shell) {
    int equals = variable.indexOf('=');
    String key = equals < 0 ? variable : variable.substring(0, equals);
    String value = equals < 0 ? shell.get(key) : variable.substring(equals + 1);
    if (key.isEmpty() || value == null) {
      throw new CliException(
          ExitCode.USAGE,
          "--env %s: this shell has no such variable. Give its value: --env %s=VALUE"
              .formatted(variable, key.isEmpty() ? "NAME" : key));
    }
    environment.put(key, value);
  }
}
