@NullMarked
package dev.kastor.paper.scheduling;

import org.jspecify.annotations.NullMarked;
