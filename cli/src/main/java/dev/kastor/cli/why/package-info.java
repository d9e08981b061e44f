/**
 * Reasons of the size of a job, and what it would take to change it. Entry type: {@link
 * dev.kastor.cli.why.Why}.
 *
 * <p>Depends on {@code cli.connect} and {@code cli.view}.
 */
@NullMarked
package dev.kastor.cli.why;

import org.jspecify.annotations.NullMarked;
