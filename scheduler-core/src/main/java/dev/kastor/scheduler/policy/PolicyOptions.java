package dev.kastor.scheduler.policy;

import dev.kastor.scheduler.policy.kastor.KastorOptions;

/**
 * What a host may set on a policy; each policy reads what concerns it.
 *
 * @param seed seed of all random choices
 * @param search effort and semantics of the genetic search
 * @param kastor knobs of Kastor's own policy
 */
public record PolicyOptions(long seed, GeneticSearch search, KastorOptions kastor) {
  /** Options for policies that are not Kastor's own. */
  public PolicyOptions(long seed, GeneticSearch search) {
    this(seed, search, KastorOptions.DEFAULT);
  }

  /**
   * Knobs of Pollux's search.
   *
   * @param population individuals that survive a generation
   * @param generations most generations, the first evaluation included
   * @param patience generations without a better best after which the search ends
   * @param faithful whether to keep what the published simulator does but an online scheduler
   *     should not: its scrambled warm start, a re-allocation penalty on first starts, at most one
   *     distributed job per node, no early end, no comparison with today's allocation
   */
  public record GeneticSearch(int population, int generations, int patience, boolean faithful) {
    public GeneticSearch {
      if (population < 2 || generations < 1 || patience < 1) {
        throw new IllegalArgumentException(
            "population (%d) must be at least 2, generations (%d) and patience (%d) at least 1"
                .formatted(population, generations, patience));
      }
    }
  }

  /** Whether policies keep what their published simulators do but a scheduler should not. */
  public boolean faithful() {
    return search.faithful();
  }

  /** A search of at most 60 generations of 60. */
  public static PolicyOptions defaults(long seed) {
    return new PolicyOptions(seed, new GeneticSearch(60, 60, 12, false));
  }

  /** The search as published: 100 generations of 100. */
  public static PolicyOptions faithful(long seed) {
    return new PolicyOptions(seed, new GeneticSearch(100, 100, 100, true));
  }

  /** The same with other knobs of Kastor's own policy. */
  public PolicyOptions with(KastorOptions other) {
    return new PolicyOptions(seed, search, other);
  }
}
