/**
 * Parts of training with parameter servers that know neither models nor progress: shards of a
 * vector and what is done to them, the dealing of shares of examples to workers, and the messages.
 *
 * <p>Used by the trainer, and in simulated time by {@code bench}; it depends on the ring's links
 * and on the engine's optimizers.
 */
@NullMarked
package dev.kastor.agent.servers;

import org.jspecify.annotations.NullMarked;
