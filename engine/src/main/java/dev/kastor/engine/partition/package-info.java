/**
 * Spreads a graph over devices: {@link dev.kastor.engine.partition.PartitionedSession}.
 *
 * <p>Each device gets a graph of its own, with a send where a value leaves it and a receive where
 * one arrives. A loop or a branch with nodes on several devices becomes one on each of them: the
 * device that has the condition tells the others what it decided, in each iteration (Yu et al.,
 * EuroSys 2018, section 4.4). Values meet at a {@code Rendezvous}.
 */
@NullMarked
package dev.kastor.engine.partition;

import org.jspecify.annotations.NullMarked;
