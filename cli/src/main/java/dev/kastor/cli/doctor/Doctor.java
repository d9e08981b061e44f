package dev.kastor.cli.doctor;

import dev.kastor.cli.connect.Cluster;
import dev.kastor.cli.connect.ClusterOptions;
import dev.kastor.cli.doctor.Check.Level;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.cli.terminal.Output;
import dev.kastor.cli.terminal.Paper;
import dev.kastor.cli.terminal.Table;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** Runs all checks; one that cannot be done does not keep others from being done. */
final class Doctor {
  private final ClusterOptions options;
  private final PrintWriter out;

  Doctor(ClusterOptions options, PrintWriter out) {
    this.options = options;
    this.out = out;
  }

  int run(Output output) {
    List<Check> checks;
    try (Cluster cluster = Cluster.connect(options)) {
      checks = checks(cluster);
    }
    switch (output) {
      case JSON, YAML -> output.print(Map.of("ok", healthy(checks), "checks", checks), out);
      case NAME ->
          checks.stream()
              .filter(check -> check.level() != Level.OK)
              .map(Check::name)
              .forEach(out::println);
      case TABLE, WIDE ->
          lines(checks, output == Output.WIDE ? Paper.ENDLESS : Paper.width())
              .forEach(out::println);
    }
    out.flush();
    return healthy(checks) ? ExitCode.OK : ExitCode.FAILED;
  }

  private static boolean healthy(List<Check> checks) {
    return checks.stream().noneMatch(check -> check.level() == Level.FAIL);
  }

  List<Check> checks(Cluster cluster) {
    List<Check> checks = new ArrayList<>();
    ApiServerChecks server = new ApiServerChecks(cluster);
    Check reachable = server.reachable();
    checks.add(reachable);
    if (reachable.level() == Level.FAIL) {
      return checks;
    }
    add(checks, "ready", () -> List.of(server.ready()));
    add(checks, "clock", () -> List.of(server.clock()));
    add(checks, "crd", () -> List.of(server.crd()));
    add(checks, "rights", () -> new RightsCheck(cluster).all(options.namespace()));
    OperatorChecks operator = new OperatorChecks(cluster, options);
    add(checks, "operator", operator::all);
    WorkChecks work = new WorkChecks(cluster);
    add(checks, "gpus", () -> List.of(work.gpus()));
    add(checks, "images", () -> List.of(work.images()));
    add(checks, "jobs", work::jobs);
    return checks;
  }

  private static void add(List<Check> checks, String name, Supplier<List<Check>> check) {
    try {
      checks.addAll(check.get());
    } catch (KubernetesClientException e) {
      checks.add(
          Check.warn(
              name,
              "could not be checked: " + e.getMessage(),
              "Run it as somebody who may, or see what the API server logs"));
    }
  }

  static List<String> lines(List<Check> checks, int paper) {
    Table table = new Table("STATE", "CHECK", "FOUND");
    for (Check check : checks) {
      table.row(List.of(check.level().shown(), check.name(), check.message()));
      if (check.remedy() != null) {
        table.row(List.of("", "", "-> " + check.remedy()));
      }
    }
    List<String> lines = new ArrayList<>(table.lines(paper));
    lines.add(
        "%d ok, %d to look at, %d failed"
            .formatted(
                count(checks, Level.OK), count(checks, Level.WARN), count(checks, Level.FAIL)));
    return lines;
  }

  private static long count(List<Check> checks, Level level) {
    return checks.stream().filter(check -> check.level() == level).count();
  }
}
