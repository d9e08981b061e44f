/**
 * Commands that start and stop a cluster on this machine. Entry types: {@link
 * dev.kastor.cli.local.Up}, {@link dev.kastor.cli.local.Down}.
 *
 * <p>Depends on module {@code local}, {@code cli.plugin} and {@code cli.terminal}.
 */
@NullMarked
package dev.kastor.cli.local;

import org.jspecify.annotations.NullMarked;
