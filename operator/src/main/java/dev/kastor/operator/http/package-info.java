/**
 * The HTTP server below the resources: which requests and connections it takes at all, on which
 * port. {@link dev.kastor.operator.http.AmbiguousRequests} comes first; resources and page know
 * nothing of it.
 */
@NullMarked
package dev.kastor.operator.http;

import org.jspecify.annotations.NullMarked;
