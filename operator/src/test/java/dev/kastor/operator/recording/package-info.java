@NullMarked
package dev.kastor.operator.recording;

import org.jspecify.annotations.NullMarked;
