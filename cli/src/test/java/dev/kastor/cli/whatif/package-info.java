/** Tests of reasons. */
@NullMarked
package dev.kastor.cli.whatif;

import org.jspecify.annotations.NullMarked;
