/**
 * Training data: drawn glyphs, generated stories, and readers for files that people have.
 *
 * <p>Everything ends as {@link dev.kastor.engine.data.Examples} or as bytes of text. A reader holds
 * every size against the file before it takes memory, and its {@link
 * dev.kastor.engine.data.DataException} names the file and the place in it; its {@code glance}
 * reads no more than takes milliseconds. Depends on the JDK, Commons CSV, SLF4J and, for names that
 * are proposed, {@code dev.kastor.plugin}.
 */
@NullMarked
package dev.kastor.engine.data;

import org.jspecify.annotations.NullMarked;
