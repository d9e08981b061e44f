@NullMarked
package dev.kastor.agent.pace;

import org.jspecify.annotations.NullMarked;
