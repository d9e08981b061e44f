/**
 * Jobs that ended and events of the cluster. Entry types: {@link dev.kastor.cli.history.History},
 * {@link dev.kastor.cli.history.Events}.
 *
 * <p>Depends on {@code cli.connect} and {@code cli.view}.
 */
@NullMarked
package dev.kastor.cli.history;

import org.jspecify.annotations.NullMarked;
