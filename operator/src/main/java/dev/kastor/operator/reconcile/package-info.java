/**
 * Reconciliation: a pass over one job observes it, decides on an action from the facts alone and
 * carries it out; timers do what nobody signals. Entry types of the operator: {@link
 * dev.kastor.operator.reconcile.TrainingJobReconciler} and {@link
 * dev.kastor.operator.reconcile.Housekeeping}.
 */
@NullMarked
package dev.kastor.operator.reconcile;

import org.jspecify.annotations.NullMarked;
