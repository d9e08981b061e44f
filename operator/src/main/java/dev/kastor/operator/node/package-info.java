/**
 * Nodes that fail: {@link dev.kastor.operator.node.NodeWatch} finds out which are dead before the
 * cluster says so, and frees what is certain to be gone where that is asked for.
 */
@NullMarked
package dev.kastor.operator.node;

import org.jspecify.annotations.NullMarked;
