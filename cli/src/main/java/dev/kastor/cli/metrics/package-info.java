/**
 * Series of a job's measurements for other programs. Entry type: {@link
 * dev.kastor.cli.metrics.Metrics}.
 *
 * <p>{@link dev.kastor.cli.metrics.Series} reads what the operator tells as {@link
 * dev.kastor.cli.metrics.Point}s, a {@link dev.kastor.cli.metrics.PointFormat} is how they are
 * written, a {@link dev.kastor.cli.metrics.PointFile} grows by those that are new. Depends on
 * {@code cli.connect}, {@code cli.view} and the engine's writer of protocol buffers.
 */
@NullMarked
package dev.kastor.cli.metrics;

import org.jspecify.annotations.NullMarked;
