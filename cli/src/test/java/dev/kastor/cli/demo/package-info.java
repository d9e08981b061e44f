/** Tests of the demonstration. */
@NullMarked
package dev.kastor.cli.demo;

import org.jspecify.annotations.NullMarked;
