/**
 * Questions about the future of a live cluster, and their answers.
 *
 * <p>Depends on {@code live}; the records of an {@link dev.kastor.scheduler.whatif.Answer} need no
 * more than what any library for JSON does with records.
 */
@NullMarked
package dev.kastor.scheduler.whatif;

import org.jspecify.annotations.NullMarked;
