package dev.kastor.cli.replay;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.cli.terminal.Ink;
import dev.kastor.cli.terminal.ResultFile;
import dev.kastor.cli.terminal.Table;
import dev.kastor.simulator.compare.CompareException;
import dev.kastor.simulator.compare.Comparison;
import dev.kastor.simulator.compare.Interval;
import dev.kastor.simulator.compare.RunFile;
import dev.kastor.traces.AtomicFile;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code kastor compare}. */
@Command(
    name = "compare",
    description = {
      "Compares the completion times of the same jobs in two result files.",
      "Runs pair by workload, seed and mode, jobs by name. Differences are B - A and ratios",
      "B / A: below 0 and below 1, B is better. Intervals are of 95 %% confidence."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  kastor compare tiresias.json pollux.json",
      "  kastor compare all.json all.json --policy-a tiresias --policy-b pollux --json diff.json"
    })
public final class CompareCommand implements Callable<Integer> {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(index = "0", paramLabel = "A.json", description = "Results to compare with.")
  private Path fileA = Path.of("");

  @Parameters(index = "1", paramLabel = "B.json", description = "Results to compare.")
  private Path fileB = Path.of("");

  @Option(
      names = "--policy-a",
      paramLabel = "NAME",
      description = "Only this policy of A (default: each).")
  private @Nullable String policyA;

  @Option(
      names = "--policy-b",
      paramLabel = "NAME",
      description = "Only this policy of B (default: each).")
  private @Nullable String policyB;

  @Option(names = "--json", paramLabel = "FILE", description = "Write the comparison as JSON, too.")
  private @Nullable Path json;

  @Override
  public Integer call() throws IOException {
    if (json != null) {
      ResultFile.check(json);
    }
    List<Comparison> comparisons;
    try {
      comparisons = Comparison.of(read(fileA, policyA), read(fileB, policyB));
    } catch (CompareException e) {
      throw new CliException(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
    }
    if (json != null) {
      ArrayNode list = MAPPER.createArrayNode();
      comparisons.forEach(comparison -> list.add(json(comparison)));
      ObjectNode document = MAPPER.createObjectNode();
      document.set("comparisons", list);
      AtomicFile.write(
          json, MAPPER.writerWithDefaultPrettyPrinter().writeValueAsString(document) + "\n");
    }
    PrintWriter out = spec.commandLine().getOut();
    comparisons.forEach(comparison -> print(out, comparison));
    out.flush();
    return ExitCode.OK;
  }

  private static RunFile read(Path file, @Nullable String policy) throws CompareException {
    RunFile runs = RunFile.read(file);
    return policy == null ? runs : runs.only(policy);
  }

  private void print(PrintWriter out, Comparison c) {
    out.println(
        "A %s (%s)  against  B %s (%s): %d jobs in %d pairs of runs"
            .formatted(
                Ink.BOLD.on(c.policyA()),
                fileA,
                Ink.BOLD.on(c.policyB()),
                fileB,
                c.jobs(),
                c.pairs().size()));
    Table table = new Table("JCT", "A", "B", "B - A", "B / A").rightFrom(1);
    row(table, "mean", c.a().mean(), c.b().mean());
    row(table, "median", c.a().median(), c.b().median());
    row(table, "p90", c.a().p90(), c.b().p90());
    table.lines().forEach(out::println);
    out.println(
        "mean difference over jobs      %s   (paired t)"
            .formatted(text(c.difference(), "%+.1f s")));
    out.println(
        "ratio of means over jobs       %s   (bootstrap of pairs)"
            .formatted(text(c.ratio(), "%.3f")));
    if (c.pairs().size() > 1) {
      out.println(
          "mean difference over runs      %s   (paired t of the runs' means)"
              .formatted(text(c.runDifference(), "%+.1f s")));
    }
    out.println(
        "sooner under B %d, later %d, the same %d%n".formatted(c.wins(), c.losses(), c.ties()));
    if (c.pairs().size() > 1) {
      Table runs =
          new Table("WORKLOAD", "CLUSTER", "LOAD", "SEED", "JOBS", "MEAN A", "MEAN B", "B / A")
              .rightFrom(2);
      for (Comparison.RunPair pair : c.pairs()) {
        runs.row(
            List.of(
                pair.workload(),
                pair.cluster(),
                Double.toString(pair.load()),
                Long.toString(pair.seed()),
                Integer.toString(pair.jobs()),
                text("%.1f s", pair.meanA()),
                text("%.1f s", pair.meanB()),
                text("%.3f", pair.meanB() / pair.meanA())));
      }
      runs.lines().forEach(out::println);
      out.println();
    }
  }

  private static void row(Table table, String name, double a, double b) {
    table.row(
        List.of(
            name,
            text("%.1f s", a),
            text("%.1f s", b),
            text("%+.1f s", b - a),
            text("%.3f", b / a)));
  }

  private static String text(Interval interval, String format) {
    String value = text(format, interval.value());
    return Double.isNaN(interval.low())
        ? value + " (one pair: no interval)"
        : "%s [%s, %s]"
            .formatted(value, text(format, interval.low()), text(format, interval.high()));
  }

  private static String text(String format, double value) {
    return String.format(Locale.ROOT, format, value);
  }

  private static ObjectNode json(Comparison c) {
    ObjectNode json = MAPPER.createObjectNode();
    json.put("policyA", c.policyA());
    json.put("policyB", c.policyB());
    json.put("jobs", c.jobs());
    json.set("aSeconds", times(c.a()));
    json.set("bSeconds", times(c.b()));
    json.set("differenceSeconds", interval(c.difference()));
    json.set("ratio", interval(c.ratio()));
    json.set("runDifferenceSeconds", interval(c.runDifference()));
    json.put("wins", c.wins());
    json.put("losses", c.losses());
    json.put("ties", c.ties());
    ArrayNode runs = json.putArray("runs");
    for (Comparison.RunPair pair : c.pairs()) {
      runs.addObject()
          .put("workload", pair.workload())
          .put("seed", pair.seed())
          .put("mode", pair.mode())
          .put("cluster", pair.cluster())
          .put("load", pair.load())
          .put("jobs", pair.jobs())
          .put("meanASeconds", pair.meanA())
          .put("meanBSeconds", pair.meanB());
    }
    return json;
  }

  private static ObjectNode times(Comparison.Times times) {
    return MAPPER
        .createObjectNode()
        .put("mean", times.mean())
        .put("median", times.median())
        .put("p90", times.p90());
  }

  /** Without ends where a single pair says nothing of the spread. */
  private static ObjectNode interval(Interval interval) {
    ObjectNode json = MAPPER.createObjectNode().put("value", interval.value());
    if (!Double.isNaN(interval.low())) {
      json.put("low95", interval.low()).put("high95", interval.high());
    }
    return json;
  }
}
