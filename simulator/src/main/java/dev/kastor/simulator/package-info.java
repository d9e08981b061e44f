/**
 * Replays of workloads in virtual time through the production scheduling loop.
 *
 * <p>All types are in the packages below; a test forbids cycles among them. From low to high:
 * {@code replay} is what all replays share, {@code tick} holds the published simulators' rules of
 * time, {@code event} Kastor's own, {@code run} makes replays of either kind, {@code report} writes
 * the files; {@code sweep}, {@code compare}, {@code evaluate} and {@code bench} are uses. Depends
 * on traces and the scheduler.
 */
@NullMarked
package dev.kastor.simulator;

import org.jspecify.annotations.NullMarked;
