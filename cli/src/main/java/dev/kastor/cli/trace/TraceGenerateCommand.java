package dev.kastor.cli.trace;

import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.traces.Application;
import dev.kastor.traces.AtomicFile;
import dev.kastor.traces.TraceException;
import dev.kastor.traces.Workload;
import dev.kastor.traces.format.WorkloadFile;
import dev.kastor.traces.generate.ClusterStudies;
import dev.kastor.traces.generate.ClusterStudy;
import dev.kastor.traces.generate.WorkloadGenerator;
import dev.kastor.traces.profile.Applications;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code kastor trace generate}. */
@Command(
    name = "generate",
    description = {
      "Makes a workload at random with the sizes, durations, arrivals and outcomes of a study.",
      "The same options and seed make the same file."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  kastor trace generate large.csv --jobs 100000 --days 14",
      "  kastor trace generate tuned.csv --applications traces/profiles/kastor.csv --seed 7"
    })
final class TraceGenerateCommand implements Callable<Integer> {
  /** How long the workload is. */
  private static final class Span {
    @Option(names = "--hours", paramLabel = "H", description = "Hours of submissions (default: 8).")
    private double hours;

    @Option(names = "--days", paramLabel = "D", description = "Days of submissions.")
    private double days;

    Duration duration() {
      return Duration.ofSeconds(Math.round(hours * 3600 + days * 86_400));
    }
  }

  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(index = "0", paramLabel = "OUT", description = "The CSV file to write.")
  private Path out = Path.of("");

  @Option(
      names = "--like",
      paramLabel = "STUDY",
      defaultValue = "philly",
      description = "philly (ATC 2019) or helios (SC 2021) (default: ${DEFAULT-VALUE}).")
  private String like = "philly";

  @Option(
      names = "--jobs",
      paramLabel = "N",
      defaultValue = "160",
      description = "Jobs (default: ${DEFAULT-VALUE}).")
  private int jobs = 160;

  @ArgGroup(exclusive = true)
  private @Nullable Span span;

  @Option(
      names = "--start-hour",
      paramLabel = "H",
      defaultValue = "0",
      description = "Hour of the Monday on which it begins (default: ${DEFAULT-VALUE}).")
  private int startHour;

  @Option(
      names = "--applications",
      paramLabel = "PATH",
      description = {
        "Applications that the jobs are of, nearest in GPU time, with tuned sizes and batches.",
        "Without it jobs are rigid and known by their duration."
      })
  private @Nullable Path applications;

  @Option(
      names = "--gangs-of",
      paramLabel = "N",
      description = {
        "With --applications: jobs of N GPUs or more are rigid and take N GPUs of one node with",
        "each replica; smaller ones have no more replicas than the study has GPUs."
      })
  private int gangsOf;

  @Option(
      names = "--max-replicas",
      paramLabel = "N",
      defaultValue = "64",
      description = "Largest size; larger ones become this (default: ${DEFAULT-VALUE}).")
  private int maxReplicas = 64;

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "1",
      description = "Seed of all random choices (default: ${DEFAULT-VALUE}).")
  private long seed = 1;

  @Option(
      names = "--note",
      paramLabel = "TEXT",
      description = "A further comment for the file; repeatable.")
  private List<String> notes = List.of();

  @Override
  public Integer call() throws IOException {
    Workload workload;
    ClusterStudy study;
    try {
      study = ClusterStudies.named(like);
      Duration length = span == null ? Duration.ofHours(8) : span.duration();
      var options = new WorkloadGenerator.Options(jobs, length, startHour, maxReplicas, seed);
      if (gangsOf < 0 || (gangsOf > 0 && applications == null)) {
        throw new IllegalArgumentException(
            "--gangs-of (%d) must be above 0 and needs --applications".formatted(gangsOf));
      }
      if (applications == null) {
        workload = WorkloadGenerator.durations(study, options);
      } else {
        Map<String, Application> known = Applications.read(applications);
        workload =
            gangsOf > 0
                ? WorkloadGenerator.gangs(study, options, gangsOf, known.values())
                : WorkloadGenerator.applications(study, options, known.values());
      }
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
    } catch (TraceException e) {
      throw new CliException(ExitCode.USAGE, String.valueOf(e.getMessage()));
    }
    List<String> comment = new ArrayList<>();
    comment.add(
        "Made at random, seed %d, after %s. Not a trace of any cluster."
            .formatted(seed, study.source()));
    comment.addAll(notes);
    AtomicFile.write(out, WorkloadFile.text(comment, workload));
    spec.commandLine().getOut().printf("%d jobs to %s%n", workload.jobs().size(), out);
    spec.commandLine().getOut().flush();
    return ExitCode.OK;
  }
}
