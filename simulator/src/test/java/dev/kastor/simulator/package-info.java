/** Replays of shipped and of small workloads. */
@NullMarked
package dev.kastor.simulator;

import org.jspecify.annotations.NullMarked;
