/**
 * The free-form part {@code training} of a TrainingJob: which features of training a user chose.
 *
 * <p>Entry type: {@link dev.kastor.training.TrainingChoices}, which whoever submits, the operator
 * and agents read alike. Depends on {@code plugin} alone; what the names stand for is known to the
 * engine.
 */
@NullMarked
package dev.kastor.training;

import org.jspecify.annotations.NullMarked;
