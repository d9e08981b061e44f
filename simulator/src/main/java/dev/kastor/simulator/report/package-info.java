/**
 * Replays as files: JSON, CSV, charts and one page.
 *
 * <p>Entry types: {@link dev.kastor.simulator.report.RunsJson}, {@link
 * dev.kastor.simulator.report.RunsCsv}, {@link dev.kastor.simulator.report.Charts}, {@link
 * dev.kastor.simulator.report.Page}. Every file appears whole or not at all.
 */
@NullMarked
package dev.kastor.simulator.report;

import org.jspecify.annotations.NullMarked;
