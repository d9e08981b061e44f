/**
 * The reconciler's part of a job's status: phase, conditions and their reasons. Entry type: {@link
 * dev.kastor.operator.status.JobStatusWriter}.
 */
@NullMarked
package dev.kastor.operator.status;

import org.jspecify.annotations.NullMarked;
