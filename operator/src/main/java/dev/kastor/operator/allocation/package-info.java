/**
 * Allocations: the one writer of {@code status.allocation}. Entry type: {@link
 * dev.kastor.operator.allocation.AllocationWriter}.
 */
@NullMarked
package dev.kastor.operator.allocation;

import org.jspecify.annotations.NullMarked;
