/**
 * Where the time of a step goes: which kernel ran when, and how much memory was alive.
 *
 * <p>A {@link dev.kastor.engine.profile.Profiler} observes a backend; {@link
 * dev.kastor.engine.profile.Totals} adds up, {@link dev.kastor.engine.profile.TraceFile} writes
 * what Perfetto and Chrome show.
 */
@NullMarked
package dev.kastor.engine.profile;

import org.jspecify.annotations.NullMarked;
