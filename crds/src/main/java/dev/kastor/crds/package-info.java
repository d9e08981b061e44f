/**
 * The {@code kastor.dev/v1alpha1} API as records, one package for each kind: {@code trainingjob},
 * {@code queue} and {@code profile}.
 *
 * <p>The CRDs are generated from these types; their defaults and CEL rules are the first and
 * strictest check of what a user writes. A field that is not honoured does not exist.
 */
@NullMarked
package dev.kastor.crds;

import org.jspecify.annotations.NullMarked;
