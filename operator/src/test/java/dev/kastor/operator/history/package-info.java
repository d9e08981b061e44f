@NullMarked
package dev.kastor.operator.history;

import org.jspecify.annotations.NullMarked;
