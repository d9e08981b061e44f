@NullMarked
package dev.kastor.simulator.bound;

import org.jspecify.annotations.NullMarked;
