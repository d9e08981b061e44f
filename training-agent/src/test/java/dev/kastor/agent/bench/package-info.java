@NullMarked
package dev.kastor.agent.bench;

import org.jspecify.annotations.NullMarked;
