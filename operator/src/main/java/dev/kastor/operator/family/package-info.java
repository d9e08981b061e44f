/**
 * What jobs taught their families, kept in the cluster over the operator's restarts.
 *
 * <p>Entry type: {@link dev.kastor.operator.family.FamilyStore}.
 */
@NullMarked
package dev.kastor.operator.family;

import org.jspecify.annotations.NullMarked;
