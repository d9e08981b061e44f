/** Laws and hand-worked numbers of the goodput model. */
@NullMarked
package dev.kastor.scheduler.goodput;

import org.jspecify.annotations.NullMarked;
