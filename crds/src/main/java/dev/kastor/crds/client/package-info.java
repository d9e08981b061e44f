/**
 * Parts that every client of a cluster with our resources needs.
 *
 * <p>Entry type: {@link dev.kastor.crds.client.WatchText}. Depends on no kind.
 */
@NullMarked
package dev.kastor.crds.client;

import org.jspecify.annotations.NullMarked;
