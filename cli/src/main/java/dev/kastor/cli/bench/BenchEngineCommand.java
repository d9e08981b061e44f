package dev.kastor.cli.bench;

import dev.kastor.bench.BenchException;
import dev.kastor.bench.Contender;
import dev.kastor.bench.EngineBenchmark;
import dev.kastor.bench.EngineJson;
import dev.kastor.bench.EngineResult;
import dev.kastor.bench.Machine;
import dev.kastor.bench.PeerInstallation;
import dev.kastor.bench.Sides;
import dev.kastor.bench.Workload;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.cli.terminal.ResultFile;
import dev.kastor.cli.terminal.Table;
import dev.kastor.local.Installation;
import dev.kastor.local.LocalException;
import dev.kastor.traces.AtomicFile;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code kastor bench engine}. */
@Command(
    name = "engine",
    description = {
      "Compares training steps of Kastor's engine with PyTorch's on this machine.",
      "A step is forward, backward and update of the same model (fp32, SGD with momentum), with as",
      "many threads, by turns, each side in a process of its own. The median of the rounds' ratios counts.",
      "cpu ms: processor time for a step. first step: from the start of the process.",
      "memory: most of the process in RAM. The first time PyTorch is downloaded (500 MB)."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  kastor bench engine --json engine.json",
      "  kastor bench engine --models mlp,lstm --threads 1 --seconds 2 --rounds 9",
      "  kastor bench engine --peer none"
    })
final class BenchEngineCommand implements Callable<Integer> {
  private static final String AUTO = "auto";
  private static final String NONE = "none";

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--models",
      paramLabel = "NAME",
      split = ",",
      description =
          "Models to train, joined by commas: mlp, cnn, transformer, lstm, gru, resnet18, gpt2-small"
              + " (default: all but gpt2-small, whose steps take seconds).")
  private List<String> models = Workload.usual().stream().map(Workload::name).toList();

  @Option(
      names = "--threads",
      paramLabel = "N",
      split = ",",
      description = "Threads of each side, joined by commas (default: 1,2, or 1 on one core).")
  private List<Integer> threads = Stream.of(1, 2).filter(n -> n <= cores()).toList();

  @Option(
      names = "--seconds",
      paramLabel = "SECONDS",
      defaultValue = "5",
      description =
          "How long each side works in a round, at least one step (default: ${DEFAULT-VALUE}).")
  private double seconds = 5;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "5",
      description =
          "Rounds that count, after one that warms up both sides (default: ${DEFAULT-VALUE}).")
  private int rounds = 5;

  @Option(
      names = "--peer",
      paramLabel = "PEER",
      defaultValue = AUTO,
      description =
          "auto: PyTorch, installed into the cache of the user where it is not yet; none; or the"
              + " path of a Python that has PyTorch (default: ${DEFAULT-VALUE}).")
  private String peer = AUTO;

  @Option(names = "--json", paramLabel = "FILE", description = "Write all results as JSON.")
  private @Nullable Path json;

  @Override
  public Integer call() throws IOException, InterruptedException {
    List<Workload> workloads = check();
    if (json != null) {
      ResultFile.check(json);
    }
    List<EngineResult> results = new ArrayList<>();
    try {
      Installation installation = Installation.current();
      EngineBenchmark benchmark =
          new EngineBenchmark(
              Sides.kastor(installation), peer(installation), seconds, rounds, this::tell);
      Instant date = Instant.now().truncatedTo(ChronoUnit.SECONDS);
      Machine machine = Machine.here();
      for (Workload workload : workloads) {
        for (int count : threads) {
          results.add(benchmark.run(workload, count));
        }
      }
      PrintWriter out = spec.commandLine().getOut();
      table(results).forEach(out::println);
      out.flush();
      if (json != null) {
        AtomicFile.write(json, EngineJson.of(results, machine, date));
      }
    } catch (BenchException | LocalException e) {
      throw new CliException(ExitCode.FAILED, String.valueOf(e.getMessage()), e);
    }
    return ExitCode.OK;
  }

  private List<Workload> check() {
    List<Workload> workloads = new ArrayList<>();
    try {
      for (String model : models) {
        workloads.add(Workload.named(model));
      }
    } catch (BenchException e) {
      throw usage(String.valueOf(e.getMessage()));
    }
    if (!(seconds > 0) || rounds < 1) {
      throw usage(
          "--seconds (%s) must be more than 0, --rounds (%d) at least 1"
              .formatted(seconds, rounds));
    }
    for (int count : threads) {
      if (count < 1 || count > cores()) {
        throw usage(
            "--threads (%d) must be at least 1 and no more than this machine's cores (%d)"
                .formatted(count, cores()));
      }
    }
    if (!peer.equals(AUTO) && !peer.equals(NONE) && !Files.isExecutable(Path.of(peer))) {
      throw usage(
          "--peer must be auto, none or the path of a Python, but there is no program %s"
              .formatted(peer));
    }
    return workloads;
  }

  private Contender.@Nullable Starter peer(Installation installation)
      throws BenchException, InterruptedException {
    return switch (peer) {
      case NONE -> null;
      case AUTO -> Sides.pyTorch(installation, PeerInstallation.python(installation, this::tell));
      default -> Sides.pyTorch(installation, Path.of(peer).toAbsolutePath());
    };
  }

  private void tell(String line) {
    PrintWriter err = spec.commandLine().getErr();
    err.println(line);
    err.flush();
  }

  private static CliException usage(String message) {
    return new CliException(ExitCode.USAGE, message);
  }

  private static int cores() {
    return Runtime.getRuntime().availableProcessors();
  }

  private static List<String> table(List<EngineResult> results) {
    Table table =
        new Table(
                "MODEL",
                "THREADS",
                "STEPS/S",
                "PEER",
                "RATIO",
                "LOWEST",
                "HIGHEST",
                "CPU MS",
                "PEER",
                "FIRST STEP S",
                "PEER",
                "MEMORY MB",
                "PEER")
            .rightFrom(1);
    for (EngineResult result : results) {
      Contender.Start theirs = result.peer();
      Contender.Window last = result.rounds().getLast().peer();
      double[] ratios =
          result.rounds().stream().mapToDouble(EngineResult.Round::ratio).sorted().toArray();
      table.row(
          List.of(
              result.workload().name(),
              Integer.toString(result.threads()),
              text(result.ours(Contender.Window::stepsPerSecond)),
              text(result.peers(Contender.Window::stepsPerSecond)),
              text(result.median(EngineResult.Round::ratio)),
              text(ratios[0]),
              text(ratios[ratios.length - 1]),
              text(result.ours(Contender.Window::cpuMillisPerStep)),
              text(result.peers(Contender.Window::cpuMillisPerStep)),
              text(result.kastor().firstStepSeconds()),
              text(theirs == null ? Double.NaN : theirs.firstStepSeconds()),
              megabytes(result.rounds().getLast().kastor()),
              last == null ? "-" : megabytes(last)));
    }
    return table.lines();
  }

  private static String text(double value) {
    if (Double.isNaN(value)) {
      return "-";
    }
    return String.format(Locale.ROOT, value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value);
  }

  private static String megabytes(Contender.Window window) {
    return Long.toString(window.peakBytes() / 1_000_000);
  }
}
