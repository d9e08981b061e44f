/**
 * What happened to each job, kept in memory for the web page.
 *
 * <p>{@link dev.kastor.operator.history.JobHistory} hears events as a {@link
 * dev.kastor.operator.signal.JobObserver} and answers with immutable {@link
 * dev.kastor.operator.history.JobStory} values. Everything is bounded: samples, scalars and
 * segments of a job, finished jobs, jobs in all. It is a view: nothing is scheduled from it, and a
 * restarted operator begins a new one. The package depends on the observer, the wire records and
 * the scheduler's types only.
 */
@NullMarked
package dev.kastor.operator.history;

import org.jspecify.annotations.NullMarked;
