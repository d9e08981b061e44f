/** Tests of replays from event to event. */
@NullMarked
package dev.kastor.simulator.event;

import org.jspecify.annotations.NullMarked;
