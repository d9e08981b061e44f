@NullMarked
package dev.kastor.simulator.tick;

import org.jspecify.annotations.NullMarked;
