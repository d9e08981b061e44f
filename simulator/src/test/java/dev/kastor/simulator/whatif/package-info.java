/** Tests of answers to "what if". */
@NullUnmarked
package dev.kastor.simulator.whatif;

import org.jspecify.annotations.NullUnmarked;
