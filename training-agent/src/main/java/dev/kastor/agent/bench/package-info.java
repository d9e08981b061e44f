/**
 * Programs behind {@code bench/}: what replicas cost each other, and what workers of parameter
 * servers gain from backup workers.
 */
@NullMarked
package dev.kastor.agent.bench;

import org.jspecify.annotations.NullMarked;
