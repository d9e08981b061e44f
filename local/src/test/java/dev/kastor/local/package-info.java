/** Tests of local mode as a whole. */
@NullMarked
package dev.kastor.local;

import org.jspecify.annotations.NullMarked;
