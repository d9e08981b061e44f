@NullMarked
package dev.kastor.paper.registry;

import org.jspecify.annotations.NullMarked;
