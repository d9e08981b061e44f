@NullMarked
package dev.kastor.simulator.recording;

import org.jspecify.annotations.NullMarked;
