/** Tests of local mode as the command starts it. */
@NullMarked
package dev.kastor.cli.local;

import org.jspecify.annotations.NullMarked;
