/**
 * A job's life beside its training: admission, deadlines, Kueue, its end and its deletion. Entry
 * type: {@link dev.kastor.operator.lifecycle.JobLife}.
 */
@NullMarked
package dev.kastor.operator.lifecycle;

import org.jspecify.annotations.NullMarked;
