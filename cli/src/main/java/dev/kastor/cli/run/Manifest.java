package dev.kastor.cli.run;

import dev.kastor.cli.manifest.ManifestFile;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * TrainingJob of a command line.
 *
 * @param name the job's name
 * @param replicas how many it may have
 * @param slotsPerReplica GPUs of each
 * @param restart whether a change of their number stops all and starts all
 * @param batch global batch: the first, and the largest one that it may grow to if it is a range;
 *     empty for a gang, whose script nobody resizes
 * @param perReplica atomic batches of a replica, if they are bounded
 * @param image the container's image; empty on this machine
 * @param folder where the command runs, if that is not the image's business
 * @param environment variables of the command
 * @param command program and arguments
 */
record Manifest(
    String name,
    Range replicas,
    int slotsPerReplica,
    boolean restart,
    Optional<Range> batch,
    Optional<Range> perReplica,
    boolean accumulates,
    Optional<String> image,
    Optional<String> folder,
    Map<String, String> environment,
    List<String> command) {
  /** Image of containers that have none: the API demands a name. */
  private static final String THIS_MACHINE = "this-machine";

  private static final int LONGEST_NAME = 40;
  private static final int SUFFIX_LETTERS = 4;

  /** What decides which interpreter and libraries a command finds; all else could be a secret. */
  private static final List<String> INTERPRETER =
      List.of(
          "PATH",
          "VIRTUAL_ENV",
          "CONDA_PREFIX",
          "CONDA_DEFAULT_ENV",
          "PYTHONPATH",
          "PYTHONHOME",
          "LD_LIBRARY_PATH");

  /** The job as the cluster takes it. */
  GenericKubernetesResource job() {
    Map<String, Object> spec = new LinkedHashMap<>();
    Map<String, Object> elastic =
        ordered("minReplicas", replicas.min(), "maxReplicas", replicas.max());
    if (slotsPerReplica > 1) {
      elastic.put("slotsPerReplica", slotsPerReplica);
    }
    if (restart) {
      elastic.put("rescale", "Restart");
    }
    spec.put("elastic", elastic);
    batch.ifPresent(sizes -> spec.put("goodput", Map.of("batchSize", batchSize(sizes))));
    spec.put("template", Map.of("spec", Map.of("containers", List.of(container()))));
    GenericKubernetesResource job = new GenericKubernetesResource();
    job.setApiVersion(ManifestFile.API_VERSION);
    job.setKind("TrainingJob");
    job.setMetadata(new ObjectMetaBuilder().withName(name).build());
    job.setAdditionalProperty("spec", spec);
    return job;
  }

  private Map<String, Object> batchSize(Range sizes) {
    Map<String, Object> batch = new LinkedHashMap<>();
    batch.put("initial", sizes.min());
    if (!sizes.fixed()) {
      batch.put("max", sizes.max());
    }
    perReplica.ifPresent(
        each -> batch.put("perDevice", ordered("min", each.min(), "max", each.max())));
    if (!accumulates) {
      batch.put("gradientAccumulation", false);
    }
    return batch;
  }

  private Map<String, Object> container() {
    Map<String, Object> container = new LinkedHashMap<>();
    container.put("name", "main");
    container.put("image", image.orElse(THIS_MACHINE));
    container.put("command", command);
    folder.ifPresent(where -> container.put("workingDir", where));
    if (!environment.isEmpty()) {
      container.put(
          "env",
          environment.entrySet().stream()
              // Kubernetes reads $(NAME) as a reference, and makes one dollar of two.
              .map(each ->
                  ordered("name", each.getKey(), "value", each.getValue().replace("$", "$$")))
              .toList());
    }
    return container;
  }

  private static Map<String, Object> ordered(
      String first, Object value, String second, Object other) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put(first, value);
    map.put(second, other);
    return map;
  }

  /** A name after the script of a command: {@code train-x7k2} for {@code python train.py}. */
  static String nameAfter(List<String> command, Random random) {
    String script =
        command.stream()
            .filter(word -> word.endsWith(".py") || word.endsWith(".sh"))
            .findFirst()
            .orElse(command.getFirst());
    String base =
        Path.of(script)
            .getFileName()
            .toString()
            .replaceFirst("\\.[a-z]+$", "")
            .toLowerCase(Locale.ROOT)
            .replaceAll("[^a-z0-9]+", "-")
            .replaceAll("^[-0-9]+|-+$", "");
    base = base.substring(0, Math.min(base.length(), LONGEST_NAME)).replaceAll("-+$", "");
    StringBuilder name = new StringBuilder(base.isEmpty() ? "run" : base).append('-');
    random.ints(SUFFIX_LETTERS, 'a', 'z' + 1).forEach(name::appendCodePoint);
    return name.toString();
  }

  /** The variables of an environment that decide what a command finds. */
  static Map<String, String> interpreter(Map<String, String> environment) {
    Map<String, String> kept = new TreeMap<>(environment);
    kept.keySet().retainAll(INTERPRETER);
    return kept;
  }

  /**
   * Refuses a command that cannot start on this machine: a program that is not there, or a script
   * that Python would not find.
   *
   * @param folder where it will run
   */
  static void requireFiles(List<String> command, Path folder) {
    String program = command.getFirst();
    Path file = folder.resolve(program);
    if (program.indexOf('/') >= 0 && (!Files.isRegularFile(file) || !Files.isExecutable(file))) {
      throw new CliException(
          ExitCode.USAGE, "there is no program %s that may be run".formatted(program));
    }
    String script = command.size() > 1 ? command.get(1) : "-";
    if (script.endsWith(".ipynb")) {
      throw new CliException(
          ExitCode.USAGE,
          "%s is a notebook, which trains as one replica where it is. Write it as a script: jupyter nbconvert --to script %s"
              .formatted(script, script));
    }
    if (file.getFileName().toString().matches("python[0-9.]*")
        && !script.startsWith("-")
        && !Files.exists(folder.resolve(script))) {
      throw new CliException(ExitCode.USAGE, "there is no file %s in %s".formatted(script, folder));
    }
  }

  /** The command with the path of its program, as this shell would find it. */
  static List<String> found(List<String> command, @Nullable String path) {
    String program = command.getFirst();
    if (program.indexOf('/') >= 0) {
      return command;
    }
    for (String folder : (path == null ? "" : path).split(File.pathSeparator, -1)) {
      if (!folder.isEmpty() && Files.isExecutable(Path.of(folder, program))) {
        List<String> line = new ArrayList<>(command);
        line.set(0, Path.of(folder, program).toAbsolutePath().toString());
        return line;
      }
    }
    throw new CliException(
        ExitCode.USAGE, "there is no program %s on PATH. Give its path".formatted(program));
  }
}
