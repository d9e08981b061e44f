package dev.kastor.cli.job;

import dev.kastor.cli.connect.Cluster;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.cli.view.JobView;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Jobs that a command is to change: by name, by label, or all of the namespace. */
final class JobChoice {
  @Parameters(paramLabel = "JOB", arity = "0..*", description = "Names of jobs.")
  private List<String> names = List.of();

  @Option(
      names = {"-l", "--selector"},
      paramLabel = "LABELS",
      description = "Jobs with these labels instead of names, such as team=vision,sweep!=old.")
  private @Nullable String selector;

  @Option(names = "--all", description = "All jobs of the namespace instead of names.")
  private boolean all;

  /** Those names, and nothing but them. */
  static JobChoice of(List<String> names) {
    JobChoice choice = new JobChoice();
    choice.names = List.copyOf(names);
    return choice;
  }

  /**
   * Names of the jobs, at least one of which was asked for.
   *
   * @param fits which of the jobs of a label, or of all, are meant; who is named is meant anyway
   */
  List<String> in(Cluster cluster, String namespace, Predicate<JobView> fits) {
    int said = (names.isEmpty() ? 0 : 1) + (selector == null ? 0 : 1) + (all ? 1 : 0);
    if (said != 1) {
      throw new CliException(
          ExitCode.USAGE, "say which jobs: by their names, by --selector LABELS, or with --all");
    }
    if (!names.isEmpty()) {
      return names;
    }
    List<String> found =
        cluster.jobs(namespace, selector).stream()
            .map(JobView::of)
            .filter(fits)
            .map(JobView::name)
            .sorted()
            .toList();
    if (found.isEmpty()) {
      throw new CliException(
          ExitCode.NOT_FOUND,
          "there is no such job in namespace %s. See what there is with: kastor ls"
              .formatted(namespace));
    }
    return found;
  }
}
