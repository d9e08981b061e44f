/**
 * Training data: drawn glyphs, generated stories, and readers for files that people have.
 *
 * <p>Everything ends as an {@link dev.kastor.engine.data.ImageSet} or as bytes of text. A reader
 * holds every size against the file before it takes memory, and its {@link
 * dev.kastor.engine.data.DataException} names the file and the place in it. Depends on the JDK and
 * Commons CSV only.
 */
@NullMarked
package dev.kastor.engine.data;

import org.jspecify.annotations.NullMarked;
