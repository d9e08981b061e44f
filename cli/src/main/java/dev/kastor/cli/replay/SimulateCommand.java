package dev.kastor.cli.replay;

import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.cli.terminal.ResultFile;
import dev.kastor.local.LocalException;
import dev.kastor.plugin.Chosen;
import dev.kastor.scheduler.policy.PolicyPlugin;
import dev.kastor.simulator.bound.LowerBound;
import dev.kastor.simulator.recording.Recording;
import dev.kastor.simulator.recording.RecordingFile;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.simulator.report.Charts;
import dev.kastor.simulator.report.Page;
import dev.kastor.simulator.report.RunsCsv;
import dev.kastor.simulator.report.RunsJson;
import dev.kastor.simulator.run.Conditions;
import dev.kastor.simulator.run.Outcome;
import dev.kastor.simulator.run.Run;
import dev.kastor.simulator.run.Simulate;
import dev.kastor.traces.AtomicFile;
import dev.kastor.traces.TraceException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code kastor simulate}. */
@Command(
    name = "simulate",
    description = {
      "Replays workloads in virtual time under several policies and compares them.",
      "Without arguments: a workload that Kastor ships, on four nodes of four GPUs."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  kastor simulate",
      "  kastor simulate --workload traces/workloads/burst-8.csv --cluster 2x8 --policy pollux",
      "  kastor simulate --policy kastor:hold=1000:fairness=3,kastor,pollux",
      "  kastor simulate --bound --policy kastor,pollux",
      "  kastor simulate --recording kastor-recording.json --policy kastor,fifo",
      "  kastor simulate --mode pollux --profiles pollux/applications --cluster 16x4 \\",
      "    --workload pollux/workloads/workload-1.csv --policy tiresias,pollux --json out.json"
    })
public final class SimulateCommand implements Callable<Integer> {
  private static final String DEFAULT_REPORT = "kastor-report";
  private static final String CLUSTER = "4x4";
  private static final String PAGE = "report.html";

  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private ReplayOptions options = new ReplayOptions();
  @Mixin private BoundOptions bound = new BoundOptions();

  @Option(
      names = "--recording",
      paramLabel = "FILE",
      description =
          "Replay what kastor record wrote, instead of a workload: its jobs on its nodes under its"
              + " policy, or what other options name.")
  private @Nullable Path recording;

  @Option(
      names = "--cluster",
      paramLabel = "NODESxGPUS",
      converter = ReplayTexts.Shape.class,
      description =
          "Nodes and GPUs on each, such as 16x4, or by GPU type, such as aws=6x4,rtx=3x8; each may"
              + " be followed by :price=AMOUNT (of a node in an hour), :spot and :racks=COUNT, such"
              + " as aws=6x4:price=3.5:spot,aws=2x4:price=12.24 (default: 4x4, or"
              + " the nodes of the recording, which come and go as they did).")
  private @Nullable ClusterShape cluster;

  @Option(names = "--json", paramLabel = "FILE", description = "Write all results as JSON.")
  private @Nullable Path json;

  @Option(names = "--csv", paramLabel = "FILE", description = "Write a line for each run as CSV.")
  private @Nullable Path csv;

  @Option(
      names = "--plots",
      paramLabel = "DIR",
      description =
          "Write pictures (PNG) and report.html into this folder (default: "
              + DEFAULT_REPORT
              + " where no workload and no output is named).")
  private @Nullable Path plots;

  @Override
  public Integer call() throws IOException, InterruptedException {
    Optional<Duration> slot = bound.slot();
    if (json != null) {
      ResultFile.check(json);
    }
    if (csv != null) {
      ResultFile.check(csv);
    }
    Path folder = reportFolder();
    if (folder != null) {
      ResultFile.check(folder.resolve(PAGE));
    }
    Path file = recording;
    Recording recorded = file == null ? null : read(file);
    Simulate simulate = prepare(file == null || recorded == null ? runs() : runs(recorded, file));
    PrintWriter out = spec.commandLine().getOut();
    ReplayProgress progress =
        new ReplayProgress(spec.commandLine().getErr(), simulate.runs(), options.quiet());
    List<Outcome> outcomes;
    try {
      outcomes = simulate.all(options.threads(1), progress);
    } finally {
      progress.close();
    }
    Optional<CliException> failure = progress.failure();
    if (failure.isPresent() && outcomes.isEmpty()) {
      throw failure.get();
    }
    Map<String, LowerBound> bounds =
        slot.isPresent() ? bounds(simulate, outcomes, slot.get()) : Map.of();
    new RunTable(outcomes, bounds).lines().forEach(out::println);
    if (recorded != null) {
      recorded.notes().forEach(out::println);
      if (cluster == null) {
        new LikenessText(recorded, outcomes).lines().forEach(out::println);
      }
    }
    if (json != null) {
      AtomicFile.write(json, RunsJson.of(outcomes, bounds));
    }
    if (csv != null) {
      AtomicFile.write(csv, RunsCsv.of(outcomes));
    }
    if (folder != null) {
      Charts.write(outcomes, folder);
      Page.write(outcomes, bounds, folder.resolve(PAGE));
      out.println("report: " + folder.resolve(PAGE).toUri());
    }
    out.flush();
    if (failure.isPresent()) {
      throw failure.get();
    }
    return ExitCode.OK;
  }

  private Map<String, LowerBound> bounds(Simulate simulate, List<Outcome> outcomes, Duration slot) {
    Map<String, LowerBound> bounds = new LinkedHashMap<>();
    PrintWriter err = spec.commandLine().getErr();
    for (Outcome outcome : outcomes) {
      Run run = outcome.run();
      if (!bounds.containsKey(run.workload())) {
        try (BoundProgress progress = new BoundProgress(err, run.workload(), options.quiet())) {
          bounds.put(run.workload(), simulate.bound(run, slot, progress));
        } catch (TraceException e) {
          throw new CliException(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
        }
      }
    }
    return bounds;
  }

  private @Nullable Path reportFolder() {
    boolean nothingNamed =
        !options.hasWorkload() && recording == null && json == null && csv == null;
    return plots == null && nothingNamed ? Path.of(DEFAULT_REPORT) : plots;
  }

  private List<Run> runs() {
    List<Run> runs = new ArrayList<>();
    try {
      List<Chosen<PolicyPlugin>> policies = options.policies();
      for (String workload : options.workloads()) {
        for (long seed : options.seeds()) {
          for (Chosen<PolicyPlugin> policy : policies) {
            runs.add(
                new Run(
                    options.mode(),
                    options.profiles(),
                    workload,
                    cluster == null ? ClusterShape.parse(CLUSTER) : cluster,
                    policy,
                    seed,
                    options.round(policy),
                    1,
                    options.conditions(),
                    options.familyMemory()));
          }
        }
      }
    } catch (LocalException e) {
      throw new CliException(ExitCode.FAILED, String.valueOf(e.getMessage()), e);
    } catch (IllegalArgumentException e) {
      throw new CliException(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
    }
    return runs;
  }

  private static Recording read(Path file) {
    try {
      return RecordingFile.read(file);
    } catch (TraceException e) {
      throw new CliException(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
    }
  }

  /** Runs of a recording, whose jobs learn from their families as on the cluster. */
  private List<Run> runs(Recording recorded, Path file) {
    options.checkForRecording();
    try {
      ClusterShape nodes = cluster == null ? recorded.cluster() : cluster;
      Conditions conditions = options.conditions().recorded(recorded, cluster == null);
      List<Run> runs = new ArrayList<>();
      for (long seed : options.seeds()) {
        for (Chosen<PolicyPlugin> policy : options.policies(recorded)) {
          runs.add(
              new Run(
                  options.mode(),
                  file,
                  file.toString(),
                  nodes,
                  policy,
                  seed,
                  options.round(policy, recorded),
                  1,
                  conditions,
                  true));
        }
      }
      return runs;
    } catch (IllegalArgumentException e) {
      throw new CliException(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
    }
  }

  static Simulate prepare(List<Run> runs) {
    try {
      return Simulate.prepare(runs);
    } catch (TraceException e) {
      throw new CliException(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
    }
  }
}
