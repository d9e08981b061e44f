/**
 * Large clusters whose nodes are played by kwok: how the operator bears thousands of nodes, jobs
 * and agents. Entry type: {@link dev.kastor.e2e.scale.ScaleScenario}. The operator runs as a
 * process beside the control plane, with the identity and the settings that the chart gives it.
 */
@NullMarked
package dev.kastor.e2e.scale;

import org.jspecify.annotations.NullMarked;
