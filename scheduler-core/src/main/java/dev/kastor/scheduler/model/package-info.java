/**
 * Vocabulary of scheduling: jobs, nodes, queues and what a job holds.
 *
 * <p>Entry type: {@link dev.kastor.scheduler.model.Snapshot}, all that a policy decides on. {@link
 * dev.kastor.scheduler.model.JobFacts} makes its jobs from what a host knows. Depends on the
 * goodput model and the wire records.
 */
@NullMarked
package dev.kastor.scheduler.model;

import org.jspecify.annotations.NullMarked;
