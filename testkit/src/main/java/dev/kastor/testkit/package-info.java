/**
 * Tools of tests that several modules share; none of them is shipped.
 *
 * <p>Entry types: {@link dev.kastor.testkit.SourceJar}, {@link dev.kastor.testkit.PackageCycles},
 * {@link dev.kastor.testkit.TestKeys}. Depends on the JDK and ArchUnit alone.
 */
@NullMarked
package dev.kastor.testkit;

import org.jspecify.annotations.NullMarked;
