@NullMarked
package dev.kastor.bench;

import org.jspecify.annotations.NullMarked;
