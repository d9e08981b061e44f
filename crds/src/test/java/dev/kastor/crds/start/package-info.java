/** Tests of the lines that tell of starts. */
@NullMarked
package dev.kastor.crds.start;

import org.jspecify.annotations.NullMarked;
