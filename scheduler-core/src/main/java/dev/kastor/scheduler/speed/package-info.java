/**
 * Speeds of nodes, learned from the step times that jobs report.
 *
 * <p>Entry types: {@link dev.kastor.scheduler.speed.NodeSpeeds}, one for a cluster, and {@link
 * dev.kastor.scheduler.speed.JobSteps}, one for each job, which knows on which nodes a report was
 * measured and corrects it by their speed. The operator and the simulator use both alike. Depends
 * on the model and the wire records.
 */
@NullMarked
package dev.kastor.scheduler.speed;

import org.jspecify.annotations.NullMarked;
