/**
 * The {@code kastor} command: {@link dev.kastor.cli.Kastor}.
 *
 * <p>Command classes hold options and call on others for the work, so that {@code --help} loads
 * neither a Kubernetes client nor a server.
 *
 * <p>It registers the commands; each kind of them has a package of its own below. No other package
 * depends on this one.
 */
@NullMarked
package dev.kastor.cli;

import org.jspecify.annotations.NullMarked;
