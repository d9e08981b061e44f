/**
 * Starts of replicas as a TrainingJob's status tells them.
 *
 * <p>Entry type: {@link dev.kastor.crds.start.StartTimes}. Depends on no kind.
 */
@NullMarked
package dev.kastor.crds.start;

import org.jspecify.annotations.NullMarked;
