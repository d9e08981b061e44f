/**
 * Questions about the future of a live cluster, and their answers. Who replays it is found among
 * the jars: {@link dev.kastor.scheduler.whatif.Replayer}, so that who asks does not depend on a
 * simulator.
 *
 * <p>Depends on {@code live} and {@code policy}; the records of an {@link
 * dev.kastor.scheduler.whatif.Answer} need no more than what any library for JSON does with
 * records.
 */
@NullMarked
package dev.kastor.scheduler.whatif;

import org.jspecify.annotations.NullMarked;
