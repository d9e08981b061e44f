/**
 * Reconciliation: one look at one job carries out what the other packages decide, and timers do
 * what nobody signals. Entry types of the operator. Entry type: {@link
 * dev.kastor.operator.reconcile.TrainingJobReconciler}.
 */
@NullMarked
package dev.kastor.operator.reconcile;

import org.jspecify.annotations.NullMarked;
