/**
 * Nodes as jobs use them: their traits, GPU types, and whether new pods may come. Entry type:
 * {@link dev.kastor.operator.nodes.NodeUses}.
 */
@NullMarked
package dev.kastor.operator.nodes;

import org.jspecify.annotations.NullMarked;
