/**
 * Registry of the policies that Kastor ships: the one package that knows them all.
 *
 * <p>Entry type: {@link dev.kastor.scheduler.policy.registry.Policies}.
 */
@NullMarked
package dev.kastor.scheduler.policy.registry;

import org.jspecify.annotations.NullMarked;
