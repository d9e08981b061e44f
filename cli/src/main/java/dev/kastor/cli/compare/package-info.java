/** Comparison of jobs with each other: {@link dev.kastor.cli.compare.CompareRunsCommand}. */
@NullMarked
package dev.kastor.cli.compare;

import org.jspecify.annotations.NullMarked;
