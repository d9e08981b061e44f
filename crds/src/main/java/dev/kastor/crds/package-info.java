/**
 * The {@code kastor.dev/v1alpha1} API: {@link dev.kastor.crds.TrainingJob} and its parts as
 * records.
 *
 * <p>The CRD is generated from these types; its defaults and CEL rules are the first and strictest
 * check of what a user writes. A field that is not honoured does not exist.
 */
@NullMarked
package dev.kastor.crds;

import org.jspecify.annotations.NullMarked;
