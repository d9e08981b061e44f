/**
 * The process that a pod runs: one replica of a training job.
 *
 * <p>Entry type {@link dev.kastor.agent.Agent}. It reads its surroundings from the environment,
 * loads the program and hands over to {@code trainer}. Depends on {@code engine} and {@code
 * scheduler-core}.
 */
@NullMarked
package dev.kastor.agent;

import org.jspecify.annotations.NullMarked;
