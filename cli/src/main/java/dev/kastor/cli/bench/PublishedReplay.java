package dev.kastor.cli.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.plugin.Chosen;
import dev.kastor.scheduler.policy.PolicyPlugin;
import dev.kastor.scheduler.policy.registry.Policies;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.simulator.replay.Mode;
import dev.kastor.simulator.run.Conditions;
import dev.kastor.simulator.run.Run;
import dev.kastor.simulator.tick.TickSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A replay that was measured with a published simulator.
 *
 * @param run the same replay here
 * @param references what it cost there, as the traces' own files say
 */
record PublishedReplay(Run run, List<Reference> references) {
  /**
   * What a replay cost a published simulator.
   *
   * @param name whose simulator
   * @param cpuSeconds of the whole replay; of its first part where the file knows no more
   */
  record Reference(String name, double cpuSeconds) {}

  PublishedReplay {
    references = List.copyOf(references);
  }

  /** All of them. */
  static List<PublishedReplay> all(Path traces) throws IOException {
    List<PublishedReplay> replays = new ArrayList<>();
    for (String policy : List.of("pollux", "tiresias")) {
      replays.add(
          new PublishedReplay(
              run(
                  Mode.POLLUX,
                  traces.resolve("pollux/applications"),
                  traces.resolve("pollux/workloads/workload-1.csv"),
                  "16x4",
                  policy),
              pollux(traces.resolve("pollux/results/baselines.json"), policy)));
    }
    replays.add(
        new PublishedReplay(
            run(
                Mode.SIA,
                traces.resolve("sia/profiles"),
                traces.resolve("sia/workloads/philly/workload-1.csv"),
                "aws=6x4,dgx-ext=2x8,rtx=3x8",
                "sia"),
            sia(traces.resolve("sia/baselines.json"))));
    return replays;
  }

  private static Run run(Mode mode, Path profiles, Path workload, String cluster, String name) {
    Chosen<PolicyPlugin> policy = Policies.choose(name);
    return new Run(
        mode,
        profiles,
        workload.toString(),
        ClusterShape.parse(cluster),
        policy,
        1,
        TickSettings.publishedRound(mode, Policies.traits(policy)),
        1,
        Conditions.PLAIN);
  }

  private static List<Reference> pollux(Path file, String policy) throws IOException {
    List<Reference> references = new ArrayList<>();
    for (JsonNode row : rows(file, "records")) {
      if (row.path("policy").asText().equals(policy)
          && row.path("workload_set").asText().equals("workloads")
          && row.path("workload").asText().equals("workload-1")
          && row.path("cpu_seconds").isNumber()) {
        references.add(new Reference("reference", row.path("cpu_seconds").asDouble()));
      }
    }
    return known(references, file, policy);
  }

  private static List<Reference> sia(Path file) throws IOException {
    List<Reference> references = new ArrayList<>();
    for (JsonNode row : rows(file, "rows")) {
      if (!row.path("policy").asText().equals("sia")
          || !row.path("workload").asText().equals("philly/workload-1")) {
        continue;
      }
      String implementation = row.path("implementation").asText();
      if (row.path("cpu_seconds").isNumber()) {
        references.add(new Reference(implementation, row.path("cpu_seconds").asDouble()));
      } else if (row.path("cpu_seconds_lower_bound").isNumber()) {
        references.add(
            new Reference(
                implementation + " (at least)", row.path("cpu_seconds_lower_bound").asDouble()));
      }
    }
    return known(references, file, "sia");
  }

  private static JsonNode rows(Path file, String name) throws IOException {
    return new ObjectMapper().readTree(Files.readString(file)).path(name);
  }

  private static List<Reference> known(List<Reference> references, Path file, String policy) {
    if (references.isEmpty()) {
      throw new CliException(
          ExitCode.FAILED, "%s has no CPU time of policy %s".formatted(file, policy));
    }
    return references;
  }
}
