/**
 * Decides on which device each node of a graph is computed: {@link
 * dev.kastor.engine.placement.Placer}.
 *
 * <p>Constraints are said on nodes ({@link dev.kastor.engine.graph.Node#at}); what must be together
 * is together; the rest goes where it would be done first (Abadi et al., "TensorFlow: Large-Scale
 * Machine Learning on Heterogeneous Distributed Systems", 2016, section 3.2.1).
 */
@NullMarked
package dev.kastor.engine.placement;

import org.jspecify.annotations.NullMarked;
