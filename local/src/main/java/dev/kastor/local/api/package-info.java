/**
 * An in-memory Kubernetes API server for one machine: {@link dev.kastor.local.api.ApiServer} over
 * {@link dev.kastor.local.api.Resources}.
 *
 * <p>It keeps what Kastor relies on in a real server: optimistic concurrency, watches that resume
 * from a revision, the status subresource, server-side apply, finalizers, owner references, a CRD's
 * schema, defaults and CEL rules, and token review. It knows nothing of the kubelet or the
 * operator.
 */
@NullMarked
package dev.kastor.local.api;

import org.jspecify.annotations.NullMarked;
