/**
 * Training jobs: what users ask for, the rules and defaults of it, and what became of it.
 *
 * <p>Entry type: {@link dev.kastor.crds.trainingjob.TrainingJob}. {@link
 * dev.kastor.crds.trainingjob.SpecDefaults} fills in what a user left out. Depends on no other
 * kind.
 */
@NullMarked
package dev.kastor.crds.trainingjob;

import org.jspecify.annotations.NullMarked;
