@NullMarked
package dev.kastor.cli.paper;

import org.jspecify.annotations.NullMarked;
