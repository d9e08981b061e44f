@NullMarked
package dev.kastor.operator.api;

import org.jspecify.annotations.NullMarked;
