/**
 * The side of {@code kastor bench engine} that is ours: {@link
 * dev.kastor.engine.bench.StepProcess}, a program that repeats one training step and tells how long
 * it took; {@link dev.kastor.engine.bench.ExecutorRates}, what the executor itself costs; and what
 * {@code kastor paper} measures of loops and samplers. Depends on {@code nn}, {@code optim}, {@code
 * exec}, {@code eager}, {@code partition} and {@code backend}.
 */
@NullMarked
package dev.kastor.engine.bench;

import org.jspecify.annotations.NullMarked;
