/**
 * What Kastor's own policy is worth: replays of it, of parts of it and of others on the same
 * workloads, as tables, JSON and a picture.
 *
 * <p>Entry type: {@link dev.kastor.simulator.evaluate.Evaluation}.
 */
@NullMarked
package dev.kastor.simulator.evaluate;

import org.jspecify.annotations.NullMarked;
