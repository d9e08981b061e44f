package dev.kastor.cli.compare;

import dev.kastor.cli.connect.Cluster;
import dev.kastor.cli.connect.ClusterOptions;
import dev.kastor.cli.terminal.Output;
import dev.kastor.cli.terminal.OutputOptions;
import dev.kastor.cli.terminal.Paper;
import dev.kastor.crds.trainingjob.TrainingJob;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code kastor compare-runs}. */
@Command(
    name = "compare-runs",
    description = {
      "Compares jobs: fields of their spec and labels that differ, and what came of each.",
      "Labels of a job are its tags. kastor compare is for replays of the simulator."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  kastor compare-runs digits-a digits-b",
      "  kastor compare-runs -l sweep=lr -o json | jq '.[] | [.job.name, .job.finalMetric]'"
    })
public final class CompareRunsCommand implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();

  @ArgGroup(validate = false, heading = ClusterOptions.HEADING)
  private ClusterOptions cluster = new ClusterOptions();

  @Mixin private OutputOptions output = new OutputOptions();

  @Option(
      names = {"-l", "--selector"},
      paramLabel = "SELECTOR",
      description = "Jobs with these labels, such as sweep=lr.")
  private @Nullable String selector;

  @Parameters(paramLabel = "JOB", arity = "0..*", description = "Names of jobs.")
  private List<String> names = List.of();

  @Override
  public void run() {
    if (names.isEmpty() == (selector == null)) {
      throw new ParameterException(
          spec.commandLine(), "name two jobs or more, or give their labels with --selector");
    }
    PrintWriter out = spec.commandLine().getOut();
    try (Cluster connected = Cluster.connect(cluster)) {
      Comparison comparison = new Comparison(jobs(connected));
      switch (output.output()) {
        case JSON, YAML -> output.output().print(comparison.runs(), out);
        case NAME -> comparison.runs().forEach(run -> out.println(run.job().resource()));
        case TABLE, WIDE ->
            comparison
                .lines(output.output() == Output.WIDE ? Paper.ENDLESS : Paper.width())
                .forEach(out::println);
      }
    }
    out.flush();
  }

  private List<TrainingJob> jobs(Cluster connected) {
    if (selector != null) {
      return connected.jobs(cluster.namespace(), selector);
    }
    List<TrainingJob> jobs = new ArrayList<>();
    names.forEach(name -> jobs.add(connected.get(cluster.namespace(), name)));
    return jobs;
  }
}
