/**
 * Metrics of the operator, by name, for Prometheus. Entry type: {@link
 * dev.kastor.operator.metrics.Metrics}.
 */
@NullMarked
package dev.kastor.operator.metrics;

import org.jspecify.annotations.NullMarked;
