/** Tests of what measures Kastor's own speed. */
@NullMarked
package dev.kastor.simulator.bench;

import org.jspecify.annotations.NullMarked;
