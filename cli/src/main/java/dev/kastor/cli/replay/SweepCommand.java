package dev.kastor.cli.replay;

import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.cli.terminal.ResultFile;
import dev.kastor.local.LocalException;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.simulator.run.Run;
import dev.kastor.simulator.sweep.Grid;
import dev.kastor.simulator.sweep.Sweep;
import dev.kastor.simulator.sweep.SweepException;
import dev.kastor.traces.AtomicFile;
import dev.kastor.traces.TraceException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code kastor sweep}. */
@Command(
    name = "sweep",
    description = {
      "Replays every combination of workloads, clusters, loads, seeds and policies.",
      "Killed and started again with the same arguments, it goes on where it was: finished",
      "runs are kept in OUT.journal until OUT is written. OUT depends on the arguments and",
      "their files only; what each replay cost this machine goes to OUT.costs.csv."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  kastor sweep --policy tiresias,pollux --seeds 5 --load 0.5,1,2 --out sweep.json",
      "  kastor sweep --workload a.csv --workload b.csv --cluster 4x4 --cluster 8x4 \\",
      "    --policy fifo,srtf --out sweep.json"
    })
public final class SweepCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private ReplayOptions options = new ReplayOptions();

  @Option(
      names = "--cluster",
      paramLabel = "NODESxGPUS",
      defaultValue = "4x4",
      converter = ReplayTexts.Shape.class,
      description =
          "Nodes and GPUs on each, such as 16x4, or by GPU type, such as aws=6x4,rtx=3x8, and what"
              + " kastor simulate takes besides, such as aws=6x4:price=3.5:spot;"
              + " may be given several times (default: ${DEFAULT-VALUE}).")
  private List<ClusterShape> clusters = List.of();

  @Option(
      names = "--load",
      paramLabel = "FACTOR",
      split = ",",
      defaultValue = "1",
      description =
          "How many times faster than in the file jobs arrive, joined by commas (default:"
              + " ${DEFAULT-VALUE}).")
  private List<Double> loads = List.of();

  @Option(
      names = "--out",
      paramLabel = "FILE",
      required = true,
      description = "Where the results go, as JSON like that of kastor simulate.")
  private Path out = Path.of("sweep.json");

  @Override
  public Integer call() throws IOException, InterruptedException {
    ResultFile.check(out);
    if (!AtomicFile.isPlain(out)) {
      throw new CliException(
          ExitCode.USAGE,
          "--out (%s) must be a file, as the journal of a sweep lies beside it. Name a file."
              .formatted(out));
    }
    PrintWriter printer = spec.commandLine().getOut();
    try (Sweep sweep = Sweep.open(runs(), out)) {
      if (sweep.done() > 0) {
        printer.println(
            "going on: %d of %d runs are done"
                .formatted(sweep.done(), sweep.done() + sweep.left().size()));
        printer.flush();
      }
      ReplayProgress progress =
          new ReplayProgress(spec.commandLine().getErr(), sweep.left(), options.quiet());
      try {
        sweep.run(options.threads(Runtime.getRuntime().availableProcessors()), progress);
      } finally {
        progress.close();
      }
      printer.println(
          "%s: %d runs; what they cost: %s"
              .formatted(out, sweep.done() + sweep.left().size(), Sweep.costs(out)));
      printer.flush();
      return ExitCode.OK;
    } catch (TraceException | SweepException e) {
      throw new CliException(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
    }
  }

  private List<Run> runs() {
    try {
      Grid grid =
          new Grid(
              options.mode(),
              options.profiles(),
              options.workloads(),
              clusters,
              loads,
              options.seeds(),
              options.policies(),
              options::round,
              options.conditions(),
              options.familyMemory());
      return grid.runs();
    } catch (LocalException e) {
      throw new CliException(ExitCode.FAILED, String.valueOf(e.getMessage()), e);
    } catch (IllegalArgumentException e) {
      throw new CliException(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
    }
  }
}
