@NullMarked
package dev.kastor.cli.compare;

import org.jspecify.annotations.NullMarked;
