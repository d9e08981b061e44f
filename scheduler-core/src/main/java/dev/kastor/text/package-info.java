/**
 * Text that others wrote, made fit to be shown: on a terminal, in a log, in a condition.
 *
 * <p>{@link dev.kastor.text.PrintableText} is the rule; everything that shows such a text applies
 * it. The package depends on nothing but the JDK.
 */
@NullMarked
package dev.kastor.text;

import org.jspecify.annotations.NullMarked;
