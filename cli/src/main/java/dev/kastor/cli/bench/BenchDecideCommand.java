package dev.kastor.cli.bench;

import dev.kastor.cli.plugin.KnownPolicies;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.cli.terminal.ResultFile;
import dev.kastor.cli.terminal.Table;
import dev.kastor.plugin.Registry;
import dev.kastor.scheduler.policy.PolicyPlugin;
import dev.kastor.scheduler.policy.registry.Policies;
import dev.kastor.simulator.bench.DecideBenchmark;
import dev.kastor.simulator.bench.DecideCase;
import dev.kastor.simulator.bench.DecideJson;
import dev.kastor.simulator.bench.DecideResult;
import dev.kastor.traces.AtomicFile;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code kastor bench decide}. */
@Command(
    name = "decide",
    description = {
      "Measures how long a policy decides, on one thread, on nodes of eight GPUs.",
      "Between two decisions a minute passes: all jobs get on, 1 %% end and as many arrive,",
      "1 %% have a new model. Then one job alone arrives or ends: one, one.",
      "around: snapshot, check of the plan, list of changes. memory: most in RAM meanwhile."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  taskset -c 0 kastor bench decide --json decide.json",
      "  kastor bench decide --policies sia,srtf --sizes 20x64,100x256 --decisions 50"
    })
final class BenchDecideCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--policies",
      paramLabel = "NAME",
      split = ",",
      completionCandidates = KnownPolicies.Names.class,
      description =
          "Policies to measure, joined by commas: ${COMPLETION-CANDIDATES}. Options follow as"
              + " NAME:OPTION=VALUE (default: kastor).")
  private List<String> policies = List.of(Policies.DEFAULT);

  @Option(
      names = "--sizes",
      paramLabel = "JOBSxGPUS",
      split = ",",
      defaultValue = "20x64,500x2000,2000x16000,10000x100000",
      description = "Sizes, joined by commas (default: ${DEFAULT-VALUE}).")
  private List<String> sizes = List.of();

  @Option(
      names = "--decisions",
      paramLabel = "N",
      defaultValue = "0",
      description =
          "Decisions at each size, half as many of a single arrival or exit (default: 1000 of up"
              + " to 100 jobs, 200 of up to 1000, 60 of up to 5000, else 20).")
  private int decisions;

  @Option(
      names = "--limit",
      paramLabel = "SECONDS",
      defaultValue = "600",
      description =
          "After so long no further decision of a case begins (default: ${DEFAULT-VALUE}).")
  private int limitSeconds = 600;

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "1",
      description = "Seed of the policies (default: ${DEFAULT-VALUE}).")
  private long seed = 1;

  @Option(names = "--json", paramLabel = "FILE", description = "Write all results as JSON.")
  private @Nullable Path json;

  @Override
  public Integer call() throws IOException {
    List<DecideCase> cases;
    try {
      if (decisions < 0 || limitSeconds < 1) {
        throw new IllegalArgumentException(
            "--decisions (%d) must not be negative, --limit (%d) at least 1"
                .formatted(decisions, limitSeconds));
      }
      Registry<PolicyPlugin> known = KnownPolicies.read();
      cases = DecideCase.parse(policies.stream().map(known::choose).toList(), sizes, decisions);
    } catch (IllegalArgumentException e) {
      throw new CliException(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
    }
    if (json != null) {
      ResultFile.check(json);
    }
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    List<DecideResult> results = new ArrayList<>();
    for (DecideCase one : cases) {
      results.add(
          DecideBenchmark.run(
              one,
              Duration.ofSeconds(limitSeconds),
              seed,
              line -> {
                err.println(line);
                err.flush();
              }));
    }
    table(results).forEach(out::println);
    out.flush();
    if (json != null) {
      AtomicFile.write(json, DecideJson.of(results));
    }
    return ExitCode.OK;
  }

  private static List<String> table(List<DecideResult> results) {
    Table table =
        new Table(
                "POLICY",
                "JOBS",
                "GPUS",
                "N",
                "MEAN MS",
                "P99",
                "MAX",
                "CPU MEAN",
                "CPU P99",
                "ONE MEAN",
                "ONE P99",
                "FIRST",
                "AROUND",
                "CHANGES",
                "MEMORY MB")
            .rightFrom(1);
    for (DecideResult r : results) {
      table.row(
          List.of(
              r.measured().policy().toString(),
              Integer.toString(r.measured().jobs()),
              Integer.toString(r.measured().gpus()),
              Integer.toString(r.measured().decisions()),
              millis(r.full().mean()),
              millis(r.full().p99()),
              millis(r.full().max()),
              millis(r.fullCpu().mean()),
              millis(r.fullCpu().p99()),
              millis(r.incremental().mean()),
              millis(r.incremental().p99()),
              millis(r.firstMillis()),
              millis(r.aroundMillis()),
              String.format(Locale.ROOT, "%.1f", r.meanChanges()),
              Long.toString(r.peakBytes() / 1_000_000)));
    }
    return table.lines();
  }

  private static String millis(double value) {
    return String.format(Locale.ROOT, value < 10 ? "%.2f" : "%.0f", value);
  }
}
