package dev.kastor.cli.bench;

import com.sun.management.OperatingSystemMXBean;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.simulator.replay.Replay;
import dev.kastor.simulator.run.RunListener;
import dev.kastor.simulator.run.Simulate;
import dev.kastor.traces.TraceException;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code kastor bench replay}. */
@Command(
    name = "replay",
    description = {
      "Measures the CPU time of whole replays against that of the published simulators.",
      "own: the replaying thread of the first replay (cpuSeconds of kastor simulate).",
      "cold: the whole process meanwhile, so with compilers and garbage collector.",
      "warm: the same of the best later replay. start: the process from its beginning,",
      "reading the files included, to the end of the first replay.",
      "Only the first replay of a process is cold: bench/replay starts one for each."
    },
    footerHeading = "%nExamples:%n",
    footer = {"  taskset -c 0 kastor bench replay --traces ../shared/traces --only tiresias"})
final class BenchReplayCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--traces",
      paramLabel = "DIR",
      defaultValue = "${env:KASTOR_TRACES}",
      description = "Folder of the published traces (default: KASTOR_TRACES).")
  private @Nullable Path traces;

  @Option(
      names = "--only",
      paramLabel = "POLICY",
      split = ",",
      description = "pollux, tiresias or sia (default: all).")
  private List<String> only = List.of();

  @Option(
      names = "--warm",
      paramLabel = "N",
      defaultValue = "2",
      description = "Replays after the first one (default: ${DEFAULT-VALUE}).")
  private int warm = 2;

  @Option(names = "--no-header", description = "Print the rows only.")
  private boolean noHeader;

  @Override
  public Integer call() throws IOException, InterruptedException, TraceException {
    if (traces == null) {
      throw new ParameterException(
          spec.commandLine(), "name the folder of the published traces: --traces or KASTOR_TRACES");
    }
    PrintWriter out = spec.commandLine().getOut();
    if (!noHeader) {
      out.println(
          "CPU seconds and how many times less than the reference\n"
              + "replay    reference                 seconds        own         cold         warm"
              + "        start  mean JCT s");
    }
    for (PublishedReplay replay : PublishedReplay.all(traces)) {
      if (only.isEmpty() || only.contains(replay.run().policy().name())) {
        measure(out, replay);
      }
    }
    return ExitCode.OK;
  }

  private void measure(PrintWriter out, PublishedReplay replay)
      throws InterruptedException, TraceException {
    Simulate simulate = Simulate.prepare(List.of(replay.run()));
    double before = cpuSeconds();
    Replay first = simulate.all(1, RunListener.NONE).getFirst().replay();
    double start = cpuSeconds();
    double cold = start - before;
    double warmest = Double.POSITIVE_INFINITY;
    for (int i = 0; i < warm; i++) {
      double from = cpuSeconds();
      simulate.all(1, RunListener.NONE);
      warmest = Math.min(warmest, cpuSeconds() - from);
    }
    for (PublishedReplay.Reference reference : replay.references()) {
      double cpu = reference.cpuSeconds();
      StringBuilder line =
          new StringBuilder(
              String.format(
                  Locale.ROOT, "%-9s %-24s %8.1f", replay.run().policy(), reference.name(), cpu));
      for (double ours : new double[] {first.cpuSeconds(), cold, warmest, start}) {
        line.append(String.format(Locale.ROOT, " %6.2f %4.0fx", ours, cpu / ours));
      }
      line.append(String.format(Locale.ROOT, " %11.1f", first.averageSeconds()));
      out.println(line);
    }
    out.flush();
  }

  /** Of the whole process since it started. */
  private static double cpuSeconds() {
    return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime()
        * 1e-9;
  }
}
