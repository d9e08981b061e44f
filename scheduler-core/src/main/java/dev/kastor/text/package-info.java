/**
 * Text for people: what others wrote, made fit to be shown on a terminal, in a log or in a
 * condition ({@link dev.kastor.text.PrintableText}; everything that shows such a text applies it),
 * and durations. The package depends on nothing but the JDK.
 */
@NullMarked
package dev.kastor.text;

import org.jspecify.annotations.NullMarked;
