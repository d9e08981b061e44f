/**
 * Commands that read, submit and change jobs. {@link dev.kastor.cli.job.Reading} reads, {@link
 * dev.kastor.cli.job.Submission} submits, {@link dev.kastor.cli.job.Changing} and {@link
 * dev.kastor.cli.job.Scaling} change.
 *
 * <p>Depends on {@code cli.connect}, {@code cli.manifest} and {@code cli.view}.
 */
@NullMarked
package dev.kastor.cli.job;

import org.jspecify.annotations.NullMarked;
