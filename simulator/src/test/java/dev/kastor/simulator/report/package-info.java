@NullMarked
package dev.kastor.simulator.report;

import org.jspecify.annotations.NullMarked;
