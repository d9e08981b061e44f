/**
 * Translation of resources into the scheduler's types. Entry type: {@link
 * dev.kastor.operator.mapping.JobMapper}.
 */
@NullMarked
package dev.kastor.operator.mapping;

import org.jspecify.annotations.NullMarked;
