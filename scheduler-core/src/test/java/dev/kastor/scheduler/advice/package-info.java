/** Tests of advice on the size of a cluster. */
@NullMarked
package dev.kastor.scheduler.advice;

import org.jspecify.annotations.NullMarked;
