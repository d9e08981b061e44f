/** Tests of the agent's process. */
@NullMarked
package dev.kastor.agent;

import org.jspecify.annotations.NullMarked;
