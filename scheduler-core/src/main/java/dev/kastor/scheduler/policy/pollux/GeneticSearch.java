package dev.kastor.scheduler.policy.pollux;

/**
 * Effort and semantics of Pollux's search.
 *
 * @param population individuals that survive a generation
 * @param generations most generations, the first evaluation included
 * @param patience generations without a better best after which the search ends
 * @param published whether to keep what the published simulator does but an online scheduler should
 *     not: its scrambled warm start, a re-allocation penalty on first starts, at most one
 *     distributed job per node, no early end, no comparison with today's allocation
 */
record GeneticSearch(int population, int generations, int patience, boolean published) {
  GeneticSearch {
    if (population < 2 || generations < 1 || patience < 1) {
      throw new IllegalArgumentException(
          "population (%d) must be at least 2, generations (%d) and patience (%d) at least 1"
              .formatted(population, generations, patience));
    }
  }
}
