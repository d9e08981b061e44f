/**
 * Policies of rounds that Kastor ships.
 *
 * <p>Entered through {@link dev.kastor.engine.sync.SyncPolicies}; each is one class and one line
 * there. The trainer knows {@link dev.kastor.engine.train.SyncPolicy} alone.
 */
@NullMarked
package dev.kastor.engine.sync;

import org.jspecify.annotations.NullMarked;
