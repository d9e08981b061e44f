/** Rules for the module as a whole. */
@NullMarked
package dev.kastor;

import org.jspecify.annotations.NullMarked;
