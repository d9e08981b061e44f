/**
 * Connections to a cluster and to the HTTP page of its operator. Entry type: {@link
 * dev.kastor.cli.connect.Cluster}, made from the options of {@link
 * dev.kastor.cli.connect.ClusterOptions}.
 *
 * <p>Depends on {@code cli.terminal} and {@code cli.view}.
 */
@NullMarked
package dev.kastor.cli.connect;

import org.jspecify.annotations.NullMarked;
