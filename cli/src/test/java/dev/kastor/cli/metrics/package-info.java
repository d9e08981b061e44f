/** Tests of history and events. */
@NullMarked
package dev.kastor.cli.metrics;

import org.jspecify.annotations.NullMarked;
