/**
 * Demonstration: three jobs on a cluster of this machine, elastic and static. Entry type: {@link
 * dev.kastor.cli.demo.Demo}.
 *
 * <p>Uses commands of {@code cli.job} and {@code cli.local} as a user would; no package but that of
 * the whole command depends on it.
 */
@NullMarked
package dev.kastor.cli.demo;

import org.jspecify.annotations.NullMarked;
