/** Tests of {@link dev.kastor.local.rehearsal}. */
@NullMarked
package dev.kastor.local.rehearsal;

import org.jspecify.annotations.NullMarked;
