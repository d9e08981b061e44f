/**
 * Reports of the GPU time that jobs held. Entry type: {@link dev.kastor.cli.report.ReportCommand}.
 *
 * <p>Depends on {@code cli.connect} and {@code cli.terminal}.
 */
@NullMarked
package dev.kastor.cli.report;

import org.jspecify.annotations.NullMarked;
