/** Tests of connections to a cluster. */
@NullMarked
package dev.kastor.cli.connect;

import org.jspecify.annotations.NullMarked;
