@NullMarked
package dev.kastor.agent.servers;

import org.jspecify.annotations.NullMarked;
