@NullMarked
package dev.kastor.simulator.compare;

import org.jspecify.annotations.NullMarked;
