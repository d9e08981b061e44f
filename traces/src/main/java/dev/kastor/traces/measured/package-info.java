/**
 * Applications whose step times and gradient noise were measured, as the artifacts of Pollux (OSDI
 * 2021) and Sia (SOSP 2023) publish them.
 *
 * <p>Entry type: {@link dev.kastor.traces.measured.PolluxApplications}. Depends on the traces
 * package only.
 */
@NullMarked
package dev.kastor.traces.measured;

import org.jspecify.annotations.NullMarked;
