/**
 * Commands that replay workloads in virtual time and compare the results. Entry type: {@link
 * dev.kastor.cli.replay.SimulateCommand}.
 *
 * <p>Depends on module {@code simulator}, {@code cli.manifest}, {@code cli.plugin} and {@code
 * cli.terminal}.
 */
@NullMarked
package dev.kastor.cli.replay;

import org.jspecify.annotations.NullMarked;
