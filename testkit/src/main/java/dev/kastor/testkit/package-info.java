/**
 * Tools of tests that several modules share; none of them is shipped.
 *
 * <p>Entry types: {@link dev.kastor.testkit.SourceJar}, {@link dev.kastor.testkit.TestKeys}, {@link
 * dev.kastor.testkit.GoldenFile}, {@link dev.kastor.testkit.Requirement}. Depends on the JDK and
 * JUnit's exceptions.
 */
@NullMarked
package dev.kastor.testkit;

import org.jspecify.annotations.NullMarked;
