/** Tests of the series of a job and their files. */
@NullMarked
package dev.kastor.cli.metrics;

import org.jspecify.annotations.NullMarked;
