@NullMarked
package dev.kastor.operator.family;

import org.jspecify.annotations.NullMarked;
