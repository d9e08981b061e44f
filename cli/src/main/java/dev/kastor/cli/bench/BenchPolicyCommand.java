package dev.kastor.cli.bench;

import dev.kastor.cli.plugin.KnownPolicies;
import dev.kastor.cli.replay.BoundOptions;
import dev.kastor.cli.replay.BoundProgress;
import dev.kastor.cli.replay.ReplayProgress;
import dev.kastor.cli.replay.ReplayTexts;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.cli.terminal.ResultFile;
import dev.kastor.local.StateFolder;
import dev.kastor.plugin.Registry;
import dev.kastor.scheduler.policy.PolicyPlugin;
import dev.kastor.simulator.evaluate.Evaluation;
import dev.kastor.simulator.evaluate.EvaluationJson;
import dev.kastor.simulator.evaluate.EvaluationTables;
import dev.kastor.simulator.evaluate.KnownResults;
import dev.kastor.simulator.evaluate.LoadPicture;
import dev.kastor.simulator.evaluate.Part;
import dev.kastor.simulator.evaluate.PublishedSets;
import dev.kastor.simulator.evaluate.ResultJournal;
import dev.kastor.simulator.evaluate.TriedPolicy;
import dev.kastor.simulator.evaluate.WorkloadSet;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.simulator.replay.Mode;
import dev.kastor.simulator.sweep.SweepException;
import dev.kastor.traces.AtomicFile;
import dev.kastor.traces.TraceException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code kastor bench policy}. */
@Command(
    name = "policy",
    description = {
      "Compares the policy kastor with the published one of a mode on the same workloads.",
      "It is compared as it is, with family memory, and with live rescale besides; with",
      "what it knows disturbed; with each of its ideas off; and beside all other",
      "policies as load grows. Prints Markdown. Workloads: the published ones of",
      "--traces, or those of --workload at each --load. Stopped and started again,",
      "it goes on where it was: results are kept in a journal and serve as long as",
      "arguments, files and code of a replay are the same. A replay that fails is a",
      "row that says why, and the exit status is 1."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  kastor bench policy --traces ../shared/traces --seeds 3 --json policy.json",
      "  kastor bench policy --set pollux-1.0,sia-philly --parts comparison",
      "  kastor bench policy --mode pollux --profiles pollux/applications \\",
      "    --workload a.csv --workload b.csv --load 0.5,1,2"
    })
final class BenchPolicyCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private BoundOptions bound = new BoundOptions();

  @Option(
      names = "--traces",
      paramLabel = "DIR",
      defaultValue = "${env:KASTOR_TRACES}",
      description = "Folder of the published traces (default: KASTOR_TRACES).")
  private @Nullable Path traces;

  @Option(
      names = "--set",
      paramLabel = "NAME",
      split = ",",
      description =
          "Published sets, joined by commas: pollux-0.5, pollux-1.0, pollux-1.5, pollux-2.0,"
              + " sia-philly, sia-saturn, sia-newtrace, sia-mixed (default: all, but"
              + " robustness and ablation on pollux-1.0 and sia-philly only).")
  private List<String> sets = List.of();

  @Option(
      names = "--workload",
      paramLabel = "FILE",
      description = "Workload instead of the published ones; may be given several times.")
  private List<String> workloads = List.of();

  @Option(
      names = "--mode",
      paramLabel = "MODE",
      defaultValue = "pollux",
      converter = ReplayTexts.ModeName.class,
      description = "Whose rules hold for --workload: pollux or sia (default: ${DEFAULT-VALUE}).")
  private Mode mode = Mode.POLLUX;

  @Option(
      names = "--profiles",
      paramLabel = "PATH",
      description = "Applications that --workload names (default: the published ones of the mode).")
  private @Nullable Path profiles;

  @Option(
      names = "--cluster",
      paramLabel = "NODESxGPUS",
      converter = ReplayTexts.Shape.class,
      description = "Nodes for --workload (default: those of the mode's published experiments).")
  private @Nullable ClusterShape cluster;

  @Option(
      names = "--load",
      paramLabel = "FACTOR",
      split = ",",
      defaultValue = "1",
      description =
          "How many times faster than in the file the jobs of --workload arrive, joined by commas"
              + " (default: ${DEFAULT-VALUE}).")
  private List<Double> loads = List.of();

  @Option(
      names = "--parts",
      paramLabel = "PART",
      split = ",",
      defaultValue = "comparison,fairness,robustness,ablation,loads",
      description = "What to answer, joined by commas (default: ${DEFAULT-VALUE}).")
  private List<String> parts = List.of();

  @Option(
      names = "--policies",
      paramLabel = "NAME",
      split = ",",
      completionCandidates = KnownPolicies.Names.class,
      description =
          "Policies of the part loads, joined by commas: ${COMPLETION-CANDIDATES}. Options follow"
              + " as NAME:OPTION=VALUE; NAME@LOAD is not tried at more than this load (default:"
              + " all, and shockwave@1, which takes minutes for each crowded workload).")
  private List<String> policies = List.of();

  @Option(
      names = "--seeds",
      paramLabel = "K",
      defaultValue = "1",
      description =
          "Seeds of replays that depend on one; results are their means (default:"
              + " ${DEFAULT-VALUE}).")
  private int seeds = 1;

  @Option(
      names = "--jobs",
      paramLabel = "N",
      description = "Replays at a time, one core each (default: all cores).")
  private @Nullable Integer jobs;

  @Option(
      names = "--journal",
      paramLabel = "FILE",
      description =
          "Where results are kept from call to call (default: FILE.journal of --json, else"
              + " bench-policy.journal in KASTOR_HOME or ~/.kastor).")
  private @Nullable Path journal;

  @Option(names = "--json", paramLabel = "FILE", description = "Write all figures as JSON.")
  private @Nullable Path json;

  @Option(
      names = "--plot",
      paramLabel = "PNG",
      description = "Draw mean completion times of all policies over the load; needs two loads.")
  private @Nullable Path plot;

  @Option(names = "--quiet", description = "Show no progress.")
  private boolean quiet;

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (json != null) {
      ResultFile.check(json);
    }
    if (plot != null) {
      ResultFile.check(plot);
    }
    Optional<Duration> slot = bound.slot();
    int threads = jobs == null ? Runtime.getRuntime().availableProcessors() : jobs;
    try (ResultJournal known = ResultJournal.open(journal())) {
      return compare(threads, known, slot);
    } catch (SweepException e) {
      throw new CliException(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
    }
  }

  private Path journal() {
    if (journal != null) {
      return journal;
    }
    return json == null
        ? StateFolder.home().resolve("bench-policy.journal")
        : json.resolveSibling(json.getFileName() + ".journal");
  }

  private int compare(int threads, KnownResults known, Optional<Duration> slot)
      throws IOException, InterruptedException {
    Evaluation evaluation = prepare(threads, known);
    PrintWriter err = spec.commandLine().getErr();
    int reused = evaluation.runs().size() - evaluation.left().size();
    if (reused > 0 && !quiet) {
      err.println(
          "going on: %d of %d replays are done".formatted(reused, evaluation.runs().size()));
      err.flush();
    }
    try (ReplayProgress progress = new ReplayProgress(err, evaluation.left(), quiet)) {
      evaluation.run(threads, known, progress);
    } catch (UncheckedIOException e) {
      throw new CliException(ExitCode.FAILED, String.valueOf(e.getMessage()), e);
    }
    slot.ifPresent(each -> bound(evaluation, each, known));
    PrintWriter out = spec.commandLine().getOut();
    EvaluationTables.of(evaluation).forEach(out::println);
    out.flush();
    if (json != null) {
      AtomicFile.write(json, EvaluationJson.of(evaluation));
    }
    if (plot != null) {
      LoadPicture.write(evaluation, plot);
    }
    if (!quiet) {
      for (Evaluation.Cost cost : evaluation.costs()) {
        err.println(
            String.format(
                Locale.ROOT,
                "%s: %d replays, %,.0f CPU s",
                cost.part().label(),
                cost.replays(),
                cost.cpuSeconds()));
      }
      err.flush();
    }
    return evaluation.failures().isEmpty() ? ExitCode.OK : ExitCode.FAILED;
  }

  private void bound(Evaluation evaluation, Duration slot, KnownResults known) {
    PrintWriter err = spec.commandLine().getErr();
    try {
      evaluation.bound(slot, known, workload -> new BoundProgress(err, workload, quiet));
    } catch (TraceException e) {
      throw new CliException(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
    }
  }

  private Evaluation prepare(int threads, KnownResults known) throws IOException {
    try {
      if (seeds < 1 || threads < 1) {
        throw new IllegalArgumentException(
            "--seeds (%d) and --jobs (%d) must be at least 1".formatted(seeds, threads));
      }
      Evaluation evaluation =
          Evaluation.prepare(
              chosen(),
              parts.stream().map(Part::of).distinct().toList(),
              tried(),
              LongStream.rangeClosed(1, seeds).boxed().toList(),
              known);
      if (plot != null && !LoadPicture.possible(evaluation)) {
        throw new IllegalArgumentException(
            "--plot needs the part loads and two loads or more: --load 0.5,1 or --set"
                + " pollux-0.5,pollux-1.0");
      }
      return evaluation;
    } catch (TraceException | IllegalArgumentException e) {
      throw new CliException(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
    }
  }

  private List<TriedPolicy> tried() {
    Registry<PolicyPlugin> known = KnownPolicies.read();
    List<String> texts =
        policies.isEmpty()
            ? known.names().stream()
                .map(name -> name.equals("shockwave") ? name + "@1" : name)
                .toList()
            : policies;
    return texts.stream().map(text -> TriedPolicy.parse(text, known)).toList();
  }

  private List<WorkloadSet> chosen() throws IOException {
    if (workloads.isEmpty()) {
      return sets.isEmpty()
          ? PublishedSets.all(published())
          : PublishedSets.read(published(), sets);
    }
    if (!sets.isEmpty()) {
      throw new IllegalArgumentException("name either --set or --workload, not both");
    }
    return WorkloadSet.atLoads(
        mode,
        profiles == null ? published().resolve(PublishedSets.profiles(mode)) : profiles,
        cluster == null ? WorkloadSet.publishedCluster(mode) : cluster,
        workloads,
        loads);
  }

  private Path published() {
    if (traces == null) {
      throw new IllegalArgumentException(
          "name the folder of the published traces with --traces or KASTOR_TRACES, or workloads of"
              + " your own with --workload and --profiles");
    }
    return traces;
  }
}
