@NullMarked
package dev.kastor.engine.collective;

import org.jspecify.annotations.NullMarked;
