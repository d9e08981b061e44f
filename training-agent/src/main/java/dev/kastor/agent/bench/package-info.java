/** What replicas cost each other: programs behind {@code bench/}. */
@NullMarked
package dev.kastor.agent.bench;

import org.jspecify.annotations.NullMarked;
