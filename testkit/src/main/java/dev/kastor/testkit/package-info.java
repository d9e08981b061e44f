/**
 * Tools of tests that several modules share; none of them is shipped.
 *
 * <p>Entry type: {@link dev.kastor.testkit.SourceJar}. Depends on the JDK alone.
 */
@NullMarked
package dev.kastor.testkit;

import org.jspecify.annotations.NullMarked;
