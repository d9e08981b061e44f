package dev.kastor.cli.checkpoint;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.kastor.cli.connect.Cluster;
import dev.kastor.cli.connect.ClusterOptions;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.cli.terminal.Format;
import dev.kastor.cli.terminal.Output;
import dev.kastor.cli.terminal.Paper;
import dev.kastor.cli.terminal.Table;
import dev.kastor.cli.view.JobView;
import dev.kastor.local.StateFolder;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The commands on checkpoints of the cluster of this machine. */
final class Checkpoints {
  /** Of a job that the cluster does not know any more. */
  private static final String REMOVED = "removed";

  private final ClusterOptions options;
  private final PrintWriter out;

  /**
   * A checkpoint as {@code -o json} prints it.
   *
   * @param state phase of the job, or that it was removed; absent where no cluster runs
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record Row(
      String namespace,
      String job,
      String uid,
      long step,
      long bytes,
      String at,
      @Nullable String state,
      String file) {}

  Checkpoints(ClusterOptions options, PrintWriter out) {
    this.options = options;
    this.out = out;
  }

  void list(@Nullable String job, Output output) {
    Map<String, String> states = states().orElse(null);
    List<CheckpointFolder> folders =
        folders().stream().filter(folder -> job == null || folder.job().equals(job)).toList();
    List<Row> rows =
        folders.stream()
            .flatMap(folder ->
                folder.saved().stream()
                    .map(saved ->
                        new Row(
                            folder.namespace(),
                            folder.job(),
                            folder.uid(),
                            saved.step(),
                            saved.bytes(),
                            saved.at().toString(),
                            states == null ? null : states.getOrDefault(folder.uid(), REMOVED),
                            saved.file().toString())))
            .toList();
    switch (output) {
      case JSON, YAML -> output.print(Map.of("checkpoints", rows), out);
      case NAME -> rows.forEach(row -> out.println(row.file()));
      case TABLE, WIDE -> {
        if (rows.isEmpty()) {
          out.println("no checkpoints in " + root());
        } else {
          table(rows, output == Output.WIDE).forEach(out::println);
        }
      }
    }
    out.flush();
  }

  private static List<String> table(List<Row> rows, boolean wide) {
    Table table =
        new Table(
                wide
                    ? new String[] {"JOB", "STEP", "SIZE", "SAVED", "STATE", "FILE"}
                    : new String[] {"JOB", "STEP", "SIZE", "SAVED", "STATE"})
            .shorten(0);
    Instant now = Instant.now();
    for (Row row : rows) {
      List<String> cells =
          List.of(
              row.namespace() + "/" + row.job(),
              Long.toString(row.step()),
              size(row.bytes()),
              Format.between(Format.instant(row.at()), Optional.of(now)) + " ago",
              row.state() == null ? "-" : row.state(),
              row.file());
      table.row(wide ? cells : cells.subList(0, 5));
    }
    return table.lines(wide ? Paper.ENDLESS : Paper.width());
  }

  static String size(long bytes) {
    String[] units = {"B", "KiB", "MiB", "GiB", "TiB"};
    double size = bytes;
    int unit = 0;
    while (size >= 1024 && unit < units.length - 1) {
      size /= 1024;
      unit++;
    }
    return (unit == 0 ? Long.toString(bytes) : Format.number(size)) + " " + units[unit];
  }

  /** Copies a checkpoint, whole or not at all. */
  void copy(String job, Optional<Long> step, @Nullable Path to) {
    CheckpointFolder folder = chosen(job);
    CheckpointFolder.Saved saved =
        folder
            .saved(step)
            .orElseThrow(() ->
                new CliException(
                    ExitCode.NOT_FOUND,
                    "job %s has no checkpoint%s. See what there is with: kastor checkpoints ls %s"
                        .formatted(job, step.map(s -> " of step " + s).orElse(""), job)));
    Path target = to == null ? Path.of(job + "-" + saved.file().getFileName()) : to;
    Path file = Files.isDirectory(target) ? target.resolve(saved.file().getFileName()) : target;
    Path part = file.resolveSibling(file.getFileName() + ".part");
    try {
      Files.copy(saved.file(), part, StandardCopyOption.REPLACE_EXISTING);
      Files.move(part, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new CliException(
          ExitCode.FAILED, "%s cannot be written: %s".formatted(file, e.getMessage()), e);
    }
    out.println("%s: step %d, %s".formatted(file, saved.step(), size(saved.bytes())));
    out.flush();
  }

  /** The folder of the job that there is, else of the one that saved last. */
  private CheckpointFolder chosen(String job) {
    Map<String, String> states = states().orElse(Map.of());
    return folders().stream()
        .filter(folder -> isOf(folder, List.of(job)) && !folder.saved().isEmpty())
        .max(
            Comparator.comparing((CheckpointFolder folder) -> states.containsKey(folder.uid()))
                .thenComparing(folder -> folder.saved().getFirst().at()))
        .orElseThrow(() ->
            new CliException(
                ExitCode.NOT_FOUND,
                "there is no checkpoint of a job %s of namespace %s in %s"
                    .formatted(job, namespace(), root())));
  }

  /** Removes the checkpoints of jobs that cannot need them any more. */
  void remove(List<String> jobs, boolean removed) {
    if (jobs.isEmpty() != removed) {
      throw new CliException(
          ExitCode.USAGE, "say whose: names of jobs, or --removed for all jobs that were removed");
    }
    Map<String, String> states =
        states()
            .orElseThrow(() ->
                new CliException(
                    ExitCode.UNREACHABLE,
                    "no cluster runs, so nobody knows which jobs need theirs. Start it with: kastor"
                        + " up"));
    List<CheckpointFolder> chosen =
        folders().stream()
            .filter(folder -> removed ? !states.containsKey(folder.uid()) : isOf(folder, jobs))
            .toList();
    for (CheckpointFolder folder : chosen) {
      String state = states.getOrDefault(folder.uid(), REMOVED);
      if (!List.of(REMOVED, "Succeeded", "Failed").contains(state)) {
        throw new CliException(
            ExitCode.USAGE,
            "job %s is %s and may need its checkpoints. Remove it first: kastor rm %s"
                .formatted(folder.job(), state, folder.job()));
      }
    }
    for (CheckpointFolder folder : chosen) {
      try {
        folder.remove();
      } catch (IOException e) {
        throw new CliException(
            ExitCode.FAILED,
            "%s cannot be removed: %s".formatted(folder.path(), e.getMessage()),
            e);
      }
      out.println(
          "removed %d checkpoints of %s/%s, %s"
              .formatted(
                  folder.saved().size(), folder.namespace(), folder.job(), size(folder.bytes())));
    }
    if (chosen.isEmpty()) {
      out.println("nothing to remove");
    }
    out.flush();
  }

  /** Whether the folder is of a job of that name in the namespace that is asked for. */
  private boolean isOf(CheckpointFolder folder, List<String> jobs) {
    return jobs.contains(folder.job()) && folder.namespace().equals(namespace());
  }

  /** The namespace that is asked for; checkpoints can be copied where no cluster runs. */
  private String namespace() {
    try {
      return options.namespace();
    } catch (CliException e) {
      if (e.exitCode() == ExitCode.UNREACHABLE) {
        return "default";
      }
      throw e;
    }
  }

  /** The folder of all checkpoints of this machine. */
  static Path root() {
    return StateFolder.home().resolve(StateFolder.CHECKPOINTS);
  }

  private static List<CheckpointFolder> folders() {
    try {
      return CheckpointFolder.all(root());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Phases of the jobs of this machine's cluster by uid; empty where it does not run. */
  private Optional<Map<String, String>> states() {
    try (Cluster cluster = Cluster.connect(options)) {
      if (!options.target().local()) {
        throw new CliException(
            ExitCode.USAGE,
            "checkpoints of that cluster are on its volume, in folders NAME-UID (checkpoints.claim"
                + " or checkpoints.hostPath of the chart); this command reads those of this"
                + " machine's cluster");
      }
      Map<String, String> states = new HashMap<>();
      cluster
          .jobs(null)
          .forEach(job -> states.put(job.getMetadata().getUid(), JobView.of(job).phase()));
      return Optional.of(states);
    } catch (CliException e) {
      if (e.exitCode() == ExitCode.UNREACHABLE) {
        return Optional.empty();
      }
      throw e;
    }
  }
}
