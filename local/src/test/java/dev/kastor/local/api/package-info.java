/** Tests of the embedded API server. */
@NullMarked
package dev.kastor.local.api;

import org.jspecify.annotations.NullMarked;
