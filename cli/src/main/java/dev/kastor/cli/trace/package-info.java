/**
 * Commands that read, convert, fit and generate traces. Entry type: {@link
 * dev.kastor.cli.trace.TraceCommand}.
 *
 * <p>Depends on module {@code traces}, {@code cli.plugin} and {@code cli.terminal}.
 */
@NullMarked
package dev.kastor.cli.trace;

import org.jspecify.annotations.NullMarked;
