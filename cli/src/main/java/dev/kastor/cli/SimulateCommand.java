package dev.kastor.cli;

import dev.kastor.local.Installation;
import dev.kastor.scheduler.policy.Policies;
import dev.kastor.simulator.Settings;
import dev.kastor.simulator.Simulate;
import dev.kastor.traces.TraceException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code kastor simulate}. */
@Command(
    name = "simulate",
    description = {
      "Replays a workload in virtual time, once for each policy, and compares them.",
      "Without arguments: a workload that Kastor ships, on four nodes of four slots."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  kastor simulate",
      "  kastor simulate --workload traces/workloads/burst-8.csv --cluster 2x8 --policy pollux"
    })
final class SimulateCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--workload",
      paramLabel = "FILE",
      description = "Workload CSV (default: the shipped mixed-40).")
  private @Nullable Path workload;

  @Option(
      names = "--profiles",
      paramLabel = "FILE",
      description = "Profiles CSV that the workload names (default: the shipped ones).")
  private @Nullable Path profiles;

  @Option(
      names = "--cluster",
      paramLabel = "NODESxSLOTS",
      defaultValue = "4x4",
      description = "Nodes and slots on each (default: ${DEFAULT-VALUE}).")
  private String cluster = "4x4";

  @Option(
      names = "--policy",
      paramLabel = "NAME",
      split = ",",
      description = "Policies to compare (default: all).")
  private List<String> policies = List.of();

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "1",
      description = "Seed of policies and measuring noise (default: ${DEFAULT-VALUE}).")
  private long seed = 1;

  @Override
  public Integer call() throws Exception {
    Path shipped = Installation.current().root().resolve("traces");
    Path workloadFile = workload == null ? shipped.resolve("workloads/mixed-40.csv") : workload;
    Simulate.Options options =
        new Simulate.Options(
            workloadFile,
            profiles == null ? shipped.resolve("profiles/kastor.csv") : profiles,
            settings(),
            chosenPolicies(),
            seed);
    try {
      Simulate.Result result = Simulate.run(options);
      spec.commandLine()
          .getOut()
          .printf(
              "%s on %s slots, seed %d%n%s%n", result.workload(), cluster, seed, result.table());
      spec.commandLine().getOut().flush();
      return ExitCode.OK;
    } catch (TraceException e) {
      throw new CliException(ExitCode.USAGE, String.valueOf(e.getMessage()));
    }
  }

  private List<String> chosenPolicies() {
    if (policies.isEmpty()) {
      return Policies.names();
    }
    for (String policy : policies) {
      if (!Policies.names().contains(policy)) {
        throw new ParameterException(
            spec.commandLine(),
            "there is no policy %s; choose from %s"
                .formatted(policy, String.join(", ", Policies.names())));
      }
    }
    return policies;
  }

  private Settings settings() {
    String[] parts = cluster.split("x", -1);
    try {
      if (parts.length == 2) {
        return Settings.defaults()
            .withCluster(Integer.parseInt(parts[0]), Integer.parseInt(parts[1]));
      }
    } catch (IllegalArgumentException e) {
      // Reported below: not two numbers, or not positive ones.
    }
    throw new ParameterException(
        spec.commandLine(),
        "--cluster must be NODESxSLOTS with positive numbers, such as 4x4, but is " + cluster);
  }
}
