/**
 * Forecasts: replays of the cluster's future beside the scheduler. Entry types: {@link
 * dev.kastor.operator.forecast.FutureReplays}, which answers questions, and {@link
 * dev.kastor.operator.forecast.Forecaster}, which says when jobs end.
 */
@NullMarked
package dev.kastor.operator.forecast;

import org.jspecify.annotations.NullMarked;
