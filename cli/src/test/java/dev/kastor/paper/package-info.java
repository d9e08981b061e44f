@NullMarked
package dev.kastor.paper;

import org.jspecify.annotations.NullMarked;
