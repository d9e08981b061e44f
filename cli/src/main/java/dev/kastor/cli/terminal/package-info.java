/**
 * Text for a terminal and for programs: {@link dev.kastor.cli.terminal.Table} lays out rows in the
 * width of a {@link dev.kastor.cli.terminal.Paper}, {@link dev.kastor.cli.terminal.Output} writes
 * documents, {@link dev.kastor.cli.terminal.ExitCode} says how a command ended.
 *
 * <p>Depends on no other package of the command.
 */
@NullMarked
package dev.kastor.cli.terminal;

import org.jspecify.annotations.NullMarked;
