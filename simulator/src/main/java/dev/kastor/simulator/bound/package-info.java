/** Lower bound of the mean completion time of a workload: nobody can be faster. */
@NullMarked
package dev.kastor.simulator.bound;

import org.jspecify.annotations.NullMarked;
