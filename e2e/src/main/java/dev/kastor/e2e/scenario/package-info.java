/**
 * Scenarios on real nodes, in the order in which a platform team would meet them. Entry type:
 * {@link dev.kastor.e2e.scenario.TrainingScenario}.
 *
 * <p>They use the product as its users do, through the chart and the API server, and know nothing
 * of the operator's insides. Depends on {@code e2e.suite} and {@code e2e.cluster}; nothing depends
 * on it.
 */
@NullMarked
package dev.kastor.e2e.scenario;

import org.jspecify.annotations.NullMarked;
