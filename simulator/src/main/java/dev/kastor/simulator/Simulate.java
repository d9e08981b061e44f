package dev.kastor.simulator;

import dev.kastor.scheduler.policy.Policies;
import dev.kastor.scheduler.policy.PolicyOptions;
import dev.kastor.traces.JobProfile;
import dev.kastor.traces.TraceException;
import dev.kastor.traces.Workload;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Compares policies on a workload: the library behind {@code kastor simulate}. */
public final class Simulate {
  private Simulate() {}

  /**
   * What to replay.
   *
   * @param workload workload CSV
   * @param profiles profiles CSV
   * @param settings cluster and costs
   * @param policies names from {@link Policies}
   * @param seed of policies and of the noise in reports
   */
  public record Options(
      Path workload, Path profiles, Settings settings, List<String> policies, long seed) {
    public Options {
      policies = List.copyOf(policies);
      if (policies.isEmpty()) {
        throw new IllegalArgumentException(
            "name at least one policy of: " + String.join(", ", Policies.names()));
      }
    }
  }

  /**
   * The replays, in the order of the policies.
   *
   * @param workload its name
   * @param replays one for each policy
   */
  public record Result(String workload, List<Replay> replays) {
    public Result {
      replays = List.copyOf(replays);
    }

    /** A table for a terminal, one line per policy. */
    public String table() {
      return ReplayTable.of(replays);
    }
  }

  /** Replays the workload once for each policy, from a fresh start each time. */
  public static Result run(Options options) throws TraceException {
    Map<String, JobProfile> profiles = JobProfile.read(options.profiles());
    Workload workload = Workload.read(options.workload(), profiles.keySet());
    List<Replay> replays = new ArrayList<>();
    for (String policy : options.policies()) {
      replays.add(replay(workload, profiles, options.settings(), policy, options.seed()));
    }
    return new Result(workload.name(), replays);
  }

  /** Replays one workload under one policy. */
  public static Replay replay(
      Workload workload,
      Map<String, JobProfile> profiles,
      Settings settings,
      String policy,
      long seed) {
    PolicyOptions options = PolicyOptions.defaults(seed);
    return new Simulation(
            workload, profiles, settings, Policies.create(policy, options), seed, round -> {})
        .run();
  }
}
