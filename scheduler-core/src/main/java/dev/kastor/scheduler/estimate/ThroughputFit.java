package dev.kastor.scheduler.estimate;

import dev.kastor.scheduler.goodput.ThroughputParams;

/**
 * The result of fitting step profiles.
 *
 * @param params the constants, with the prior on network costs never seen
 * @param objective the misfit that was minimised, at {@code params}
 */
public record ThroughputFit(ThroughputParams params, double objective) {}
