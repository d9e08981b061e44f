package dev.kastor.cli.bench;

import com.fasterxml.jackson.databind.JsonNode;
import dev.kastor.bench.BenchException;
import dev.kastor.bench.EngineGpu;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.cli.terminal.Table;
import dev.kastor.local.Installation;
import dev.kastor.local.LocalException;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code kastor gpu}. */
@Command(
    name = "gpu",
    description = "Looks at this machine's GPUs.",
    subcommands = GpuCommand.CheckCommand.class,
    footerHeading = "%nExamples:%n",
    footer = "  kastor gpu check")
public final class GpuCommand implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public void run() {
    spec.commandLine().usage(spec.commandLine().getOut());
  }

  /** {@code kastor gpu check}. */
  @Command(
      name = "check",
      description = {
        "Says which NVIDIA GPUs the engine finds here and tries its kernels on each.",
        "The gradients of small networks must be those of plain loops in double precision,",
        "with kernels of its own and, where libcublasLt or libcudnn is found, with the products",
        "of the one and the convolutions of the other, each alone and both together.",
        "Parameters that a GPU updates by its own kernels must have the bits that the host gets.",
        "KASTOR_CUDA_LIBRARIES names folders to look for them in before the system's.",
        "Ends with 0 if a GPU computes them all, with 1 if there is none that does."
      },
      footerHeading = "%nExamples:%n",
      footer = {"  kastor gpu check", "  kastor gpu check --json | jq '.devices[].name'"})
  static final class CheckCommand implements Callable<Integer> {
    private static final double GIBI = 1L << 30;

    @Spec private CommandSpec spec = CommandSpec.create();

    @Option(names = "--json", description = "Print what was found as JSON.")
    private boolean json;

    @Override
    public Integer call() throws IOException, InterruptedException {
      JsonNode found;
      try {
        found = EngineGpu.check(Installation.current());
      } catch (BenchException | LocalException e) {
        throw new CliException(ExitCode.FAILED, String.valueOf(e.getMessage()), e);
      }
      PrintWriter out = spec.commandLine().getOut();
      boolean works = false;
      for (JsonNode device : found.path("devices")) {
        works |= works(device);
      }
      if (json) {
        out.println(found.toPrettyString());
      } else {
        tell(found, out);
      }
      out.flush();
      return works ? ExitCode.OK : ExitCode.FAILED;
    }

    private static void tell(JsonNode found, PrintWriter out) {
      if (found.path("devices").isEmpty()) {
        out.println(found.path("reason").asText());
        out.println("Jobs are trained on the CPU.");
        return;
      }
      out.printf("The driver serves CUDA %s.%n", found.path("driver").asText());
      String library = found.path("library").asText();
      out.println(
          library.isEmpty()
              ? "libcublasLt is not found: products are computed by kernels of the engine's own."
              : "Products are computed by " + library + ".");
      String convolutions = found.path("convolutionLibrary").asText();
      out.println(
          convolutions.isEmpty()
              ? "libcudnn is not found: convolutions are computed by kernels of the engine's own."
              : "Convolutions are computed by " + convolutions + ".");
      String sums = found.path("sumLibrary").asText();
      out.println(
          sums.isEmpty()
              ? "libnccl is not found: replicas sum gradients over their own connections."
              : "Gradients of jobs that ask for it (collective: nccl) are summed by " + sums + ".");
      for (JsonNode device : found.path("devices")) {
        out.printf(
            Locale.ROOT,
            "%s: compute capability %s, %.1f GiB%n",
            device.path("name").asText(),
            device.path("capability").asText(),
            device.path("memoryBytes").asLong() / GIBI);
        if (device.has("reason")) {
          out.println(device.path("reason").asText());
        } else {
          Table table =
              new Table("NETWORK", "COMPUTED BY", "SECONDS", "ERROR", "RESULT").rightFrom(2);
          device.path("trials").forEach(trial -> table.row(row(trial)));
          table.lines().forEach(out::println);
        }
      }
    }

    private static List<String> row(JsonNode trial) {
      String failure = trial.path("failure").asText();
      return failure.isEmpty()
          ? List.of(
              trial.path("network").asText(),
              trial.path("products").asText(),
              String.format(Locale.ROOT, "%.2f", trial.path("seconds").asDouble()),
              String.format(Locale.ROOT, "%.1e", trial.path("error").asDouble()),
              agrees(trial) ? "agrees" : "WRONG")
          : List.of(
              trial.path("network").asText(), trial.path("products").asText(), "", "", failure);
    }

    private static boolean works(JsonNode device) {
      boolean all = !device.path("trials").isEmpty();
      for (JsonNode trial : device.path("trials")) {
        all &= agrees(trial);
      }
      return all;
    }

    private static boolean agrees(JsonNode trial) {
      return trial.path("failure").asText().isEmpty()
          && trial.path("error").asDouble(Double.NaN) < trial.path("tolerance").asDouble();
    }
  }
}
