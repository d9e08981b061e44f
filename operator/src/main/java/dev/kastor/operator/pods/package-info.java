/**
 * Pods of jobs: which there are, which are to be, how they look, and the objects that they need
 * besides. What to do is decided by pure types ({@link dev.kastor.operator.pods.PodPlan}, {@link
 * dev.kastor.operator.pods.Failures}). Entry type: {@link dev.kastor.operator.pods.JobPods}.
 */
@NullMarked
package dev.kastor.operator.pods;

import org.jspecify.annotations.NullMarked;
