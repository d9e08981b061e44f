/** Laws, hand-worked numbers and conformance of the goodput model and its fit. */
@NullMarked
package dev.kastor.scheduler.goodput;

import org.jspecify.annotations.NullMarked;
