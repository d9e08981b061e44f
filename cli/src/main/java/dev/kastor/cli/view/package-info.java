/**
 * Jobs and events as commands print them. Entry type: {@link dev.kastor.cli.view.JobView}.
 *
 * <p>Depends on {@code cli.terminal} alone; asks no server.
 */
@NullMarked
package dev.kastor.cli.view;

import org.jspecify.annotations.NullMarked;
