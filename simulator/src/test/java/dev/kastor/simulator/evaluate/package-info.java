/** The evaluation of the own policy on shipped workloads. */
@NullMarked
package dev.kastor.simulator.evaluate;

import org.jspecify.annotations.NullMarked;
