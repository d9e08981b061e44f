package dev.kastor.agent.trainer;

import dev.kastor.engine.train.AuditDigest;

/**
 * What a replica's own passes of one step gave, beside the gradient.
 *
 * @param loss mean loss over its share
 * @param squaredNorms sum over its passes of the squared norm of the pass's gradient, where the
 *     replica has a probe its estimate by that
 * @param judged the examples that it judged: those that it passed, unless a selector chooses
 * @param trained the examples it actually passed
 * @param passSeconds mean time of one pass
 * @param finite whether all values of the gradient and of the batch statistics are finite
 */
record LocalStep(
    double loss,
    double squaredNorms,
    AuditDigest judged,
    AuditDigest trained,
    double passSeconds,
    boolean finite) {}
