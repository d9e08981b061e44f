/** Tests of predictions. */
@NullMarked
package dev.kastor.cli.predict;

import org.jspecify.annotations.NullMarked;
