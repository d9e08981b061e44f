package dev.kastor.simulator.sweep;

import dev.kastor.plugin.Chosen;
import dev.kastor.scheduler.policy.PolicyPlugin;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.simulator.replay.Mode;
import dev.kastor.simulator.run.Conditions;
import dev.kastor.simulator.run.Run;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * Every combination of some choices.
 *
 * @param mode whose rules of time hold
 * @param profiles the applications' file or folder
 * @param workloads paths, as given
 * @param clusters shapes
 * @param loads how many times faster than in the file jobs arrive
 * @param seeds of all random choices
 * @param policies policies with their options
 * @param rounds time between decisions of a policy
 * @param conditions what disturbs all replays
 * @param familyMemory whether jobs of one family learn from each other
 */
public record Grid(
    Mode mode,
    Path profiles,
    List<String> workloads,
    List<ClusterShape> clusters,
    List<Double> loads,
    List<Long> seeds,
    List<Chosen<PolicyPlugin>> policies,
    Function<Chosen<PolicyPlugin>, Duration> rounds,
    Conditions conditions,
    boolean familyMemory) {
  public Grid {
    workloads = List.copyOf(workloads);
    clusters = List.copyOf(clusters);
    loads = List.copyOf(loads);
    seeds = List.copyOf(seeds);
    policies = List.copyOf(policies);
  }

  /** In the order of the components, the last one changing fastest. */
  public List<Run> runs() {
    List<Run> runs = new ArrayList<>();
    for (String workload : workloads) {
      for (ClusterShape cluster : clusters) {
        for (double load : loads) {
          for (long seed : seeds) {
            for (Chosen<PolicyPlugin> policy : policies) {
              runs.add(
                  new Run(
                      mode,
                      profiles,
                      workload,
                      cluster,
                      policy,
                      seed,
                      rounds.apply(policy),
                      load,
                      conditions,
                      familyMemory));
            }
          }
        }
      }
    }
    return runs;
  }
}
