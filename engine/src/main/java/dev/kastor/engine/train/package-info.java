/**
 * What data-parallel training is made of, one host-neutral piece per file.
 *
 * <p>A {@link dev.kastor.engine.train.Program} loads a {@link dev.kastor.engine.train.Trainable},
 * and says with a {@link dev.kastor.engine.train.Model} what it is for those who export it;
 * optimizers, learning-rate policies, the noise-scale estimator and the sampler work on flat
 * vectors, so that whoever moves the vectors between replicas need not know the model. All that a
 * replica must share to be identical to the others is in {@link
 * dev.kastor.engine.train.TrainingState}.
 */
@NullMarked
package dev.kastor.engine.train;

import org.jspecify.annotations.NullMarked;
