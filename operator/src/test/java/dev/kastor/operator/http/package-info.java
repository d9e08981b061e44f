@NullMarked
package dev.kastor.operator.http;

import org.jspecify.annotations.NullMarked;
