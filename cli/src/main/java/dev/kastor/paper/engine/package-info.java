/**
 * Papers about the engine, whose claims are measured by its own benchmarks in a process of their
 * own. Depends on {@code paper} and {@code bench}; only the registry of papers may depend on it.
 */
@NullMarked
package dev.kastor.paper.engine;

import org.jspecify.annotations.NullMarked;
