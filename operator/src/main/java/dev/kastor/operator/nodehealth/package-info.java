/**
 * Health of nodes: which are silent, and which are lost. Entry type: {@link
 * dev.kastor.operator.nodehealth.NodeWatch}.
 */
@NullMarked
package dev.kastor.operator.nodehealth;

import org.jspecify.annotations.NullMarked;
