/**
 * The trace formats Kastor reads: its own, those of the Pollux and Sia artifacts, and those of
 * published cluster logs.
 *
 * <p>Entry types: {@link dev.kastor.traces.format.TraceFormats} and {@link
 * dev.kastor.traces.format.WorkloadFile}. Depends on the traces package, Commons CSV and Jackson.
 */
@NullMarked
package dev.kastor.traces.format;

import org.jspecify.annotations.NullMarked;
