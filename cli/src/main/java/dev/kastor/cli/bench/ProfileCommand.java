package dev.kastor.cli.bench;

import com.fasterxml.jackson.databind.JsonNode;
import dev.kastor.bench.BenchException;
import dev.kastor.bench.EngineProfile;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code kastor profile}. */
@Command(
    name = "profile",
    description = {
      "Shows where the time of a model's training steps goes, kernel by kernel.",
      "Forward, backward and update on this machine's CPU. What is in brackets is",
      "computed inside the kernel before it. --trace writes every single run, and the",
      "memory that is alive, for ui.perfetto.dev or Chrome's about:tracing."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  kastor profile transformer",
      "  kastor profile cnn --threads 2 --steps 50 --trace cnn.trace.json"
    })
public final class ProfileCommand implements Callable<Integer> {
  private static final double MILLIS = 1e3;
  private static final double MEGA = 1e6;
  private static final double GIGA = 1e9;
  private static final int LONGEST_CELL = 36;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(
      paramLabel = "MODEL",
      description = "One of mlp, cnn, transformer, lstm, gru, resnet18, gpt2-small.")
  private String model = "";

  @Option(
      names = "--threads",
      paramLabel = "N",
      defaultValue = "1",
      description = "Threads to compute with (default: ${DEFAULT-VALUE}).")
  private int threads = 1;

  @Option(
      names = "--steps",
      paramLabel = "N",
      defaultValue = "20",
      description = "Steps that count (default: ${DEFAULT-VALUE}).")
  private int steps = 20;

  @Option(
      names = "--first",
      paramLabel = "N",
      defaultValue = "20",
      description = "Steps before them, until the code is compiled (default: ${DEFAULT-VALUE}).")
  private int first = 20;

  @Option(
      names = "--top",
      paramLabel = "N",
      defaultValue = "20",
      description = "Kernels to show, the longest first (default: ${DEFAULT-VALUE}).")
  private int top = 20;

  @Option(names = "--trace", paramLabel = "FILE", description = "Write every single run.")
  private @Nullable Path trace;

  @Option(names = "--json", paramLabel = "FILE", description = "Write the sums as JSON.")
  private @Nullable Path json;

  @Override
  public Integer call() throws IOException, InterruptedException {
    try {
      Workload workload = check();
      tell("%d + %d steps of %s".formatted(first, steps, model));
      JsonNode profile = profile(workload);
      PrintWriter out = spec.commandLine().getOut();
      report(profile).forEach(out::println);
      out.flush();
      if (json != null) {
        AtomicFile.write(json, profile.toPrettyString() + "\n");
      }
      if (trace != null) {
        tell("wrote %s; open it on https://ui.perfetto.dev".formatted(trace));
      }
      return ExitCode.OK;
    } catch (BenchException | LocalException e) {
      throw new CliException(ExitCode.FAILED, String.valueOf(e.getMessage()), e);
    }
  }

  private JsonNode profile(Workload workload)
      throws BenchException, LocalException, IOException, InterruptedException {
    if (trace == null) {
      return EngineProfile.of(workload, Installation.current(), threads, first, steps, null);
    }
    // Another process makes the trace; this one has the descriptors that a user may have named.
    Path made = Files.createTempFile("kastor-", ".trace.json");
    try {
      JsonNode profile =
          EngineProfile.of(workload, Installation.current(), threads, first, steps, made);
      AtomicFile.write(trace, Files.readAllBytes(made));
      return profile;
    } finally {
      Files.deleteIfExists(made);
    }
  }

  private Workload check() {
    int cores = Runtime.getRuntime().availableProcessors();
    if (threads < 1 || threads > cores) {
      throw usage(
          "--threads (%d) must be at least 1 and no more than this machine's cores (%d)"
              .formatted(threads, cores));
    }
    if (steps < 1 || first < 0 || top < 1) {
      throw usage(
          "--steps (%d) and --top (%d) must be at least 1, --first (%d) not negative"
              .formatted(steps, top, first));
    }
    for (Path file : new Path[] {trace, json}) {
      if (file != null) {
        ResultFile.check(file);
      }
    }
    try {
      return Workload.named(model);
    } catch (BenchException e) {
      throw usage(String.valueOf(e.getMessage()));
    }
  }

  private List<String> report(JsonNode profile) {
    double kernels = 0;
    for (JsonNode each : profile.path("kernels")) {
      kernels += each.path("seconds").asDouble();
    }
    Table table =
        new Table("KERNEL", "READS", "RESULT", "RUNS", "MS A STEP", "SHARE", "GB/S").rightFrom(3);
    int shown = 0;
    for (JsonNode each : profile.path("kernels")) {
      if (shown++ == top) {
        break;
      }
      double seconds = each.path("seconds").asDouble();
      table.row(
          List.of(
              shortened(each.path("op").asText()),
              shortened(operands(each)),
              each.path("result").asText(),
              Long.toString(each.path("runs").asLong() / steps),
              text(seconds / steps * MILLIS),
              String.format(Locale.ROOT, "%.1f %%", 100 * seconds / kernels),
              text(each.path("bytes").asDouble() / seconds / GIGA)));
    }
    List<String> lines = new ArrayList<>(table.lines());
    int more = profile.path("kernels").size() - top;
    if (more > 0) {
      lines.add("and %d more kernels".formatted(more));
    }
    double pass = profile.path("spans").path("pass").asDouble();
    double update = profile.path("spans").path("update").asDouble();
    lines.add("");
    lines.add(
        "A step takes %s ms: kernels %s, copies in and out %s, update %s."
            .formatted(
                text(profile.path("seconds").asDouble() / steps * MILLIS),
                text(kernels / steps * MILLIS),
                text((pass - kernels) / steps * MILLIS),
                text(update / steps * MILLIS)));
    lines.add(
        "At most %s MB hold values of the graph."
            .formatted(text(profile.path("mostAliveBytes").asDouble() / MEGA)));
    long left = profile.path("left").asLong();
    if (left > 0) {
      lines.add("%d runs were too many and are not counted; take fewer steps.".formatted(left));
    }
    return lines;
  }

  private void tell(String line) {
    PrintWriter err = spec.commandLine().getErr();
    err.println(line);
    err.flush();
  }

  private static CliException usage(String message) {
    return new CliException(ExitCode.USAGE, message);
  }

  private static String operands(JsonNode kernel) {
    List<String> types = new ArrayList<>();
    kernel.path("operands").forEach(type -> types.add(type.asText()));
    return String.join(" ", types);
  }

  private static String shortened(String name) {
    return name.length() <= LONGEST_CELL ? name : name.substring(0, LONGEST_CELL - 1) + "…";
  }

  private static String text(double value) {
    return String.format(Locale.ROOT, value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value);
  }
}
