/**
 * Commands that measure policies, replays, decisions, the training engine and GPUs. Entry type:
 * {@link dev.kastor.cli.bench.BenchCommand}.
 *
 * <p>Depends on {@code cli.replay}, {@code cli.plugin} and {@code cli.terminal}; {@code
 * dev.kastor.bench} measures the engine.
 */
@NullMarked
package dev.kastor.cli.bench;

import org.jspecify.annotations.NullMarked;
