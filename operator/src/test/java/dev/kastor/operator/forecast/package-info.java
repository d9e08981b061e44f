@NullMarked
package dev.kastor.operator.forecast;

import org.jspecify.annotations.NullMarked;
