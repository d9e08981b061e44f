/**
 * Elastic data-parallel training: the loop that every replica runs, and how replicas change.
 *
 * <p>Entry type {@link dev.kastor.agent.trainer.ElasticTrainer}. It moves the vectors of {@code
 * dev.kastor.engine.train} over a {@link dev.kastor.agent.ring.Ring}; what a step does to them is
 * in {@link dev.kastor.agent.trainer.Replica}.
 */
@NullMarked
package dev.kastor.agent.trainer;

import org.jspecify.annotations.NullMarked;
