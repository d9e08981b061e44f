package dev.kastor.simulator.bench;

import dev.kastor.plugin.Chosen;
import dev.kastor.scheduler.policy.PolicyPlugin;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One policy at one size.
 *
 * @param policy the policy with its options
 * @param jobs unfinished jobs at any time
 * @param gpus of the cluster, eight on each node
 * @param decisions how many are measured
 */
public record DecideCase(Chosen<PolicyPlugin> policy, int jobs, int gpus, int decisions) {
  private static final int GPUS_PER_NODE = 8;
  private static final Pattern SIZE = Pattern.compile("(\\d{1,6})x(\\d{1,7})");

  public DecideCase {
    if (jobs < 1 || decisions < 1) {
      throw new IllegalArgumentException(
          "jobs (%d) and decisions (%d) must be at least 1".formatted(jobs, decisions));
    }
    if (gpus < GPUS_PER_NODE || gpus % GPUS_PER_NODE != 0) {
      throw new IllegalArgumentException(
          "gpus must be a multiple of %d, which is what a node has, but are %d"
              .formatted(GPUS_PER_NODE, gpus));
    }
  }

  /**
   * Cases of some policies at sizes such as {@code 20x64,500x2000} (jobs x GPUs).
   *
   * @param decisions how many each; 0 for as many as fit the size: 1,000 of small ones, 20 of the
   *     largest
   * @throws IllegalArgumentException with what is wrong and how it should look
   */
  public static List<DecideCase> parse(
      List<Chosen<PolicyPlugin>> policies, List<String> sizes, int decisions) {
    List<DecideCase> cases = new ArrayList<>();
    for (Chosen<PolicyPlugin> policy : policies) {
      for (String size : sizes) {
        Matcher matcher = SIZE.matcher(size.strip());
        if (!matcher.matches()) {
          throw new IllegalArgumentException(
              "size '%s' must be JOBSxGPUS such as 20x64".formatted(size));
        }
        int jobs = Integer.parseInt(matcher.group(1));
        cases.add(
            new DecideCase(
                policy,
                jobs,
                Integer.parseInt(matcher.group(2)),
                decisions == 0 ? usual(jobs) : decisions));
      }
    }
    return cases;
  }

  private static int usual(int jobs) {
    if (jobs <= 100) {
      return 1000;
    }
    return jobs <= 1000 ? 200 : jobs <= 5000 ? 60 : 20;
  }
}
