/** Tests of history and events. */
@NullMarked
package dev.kastor.cli.history;

import org.jspecify.annotations.NullMarked;
