/** Tests of the data plane over real loopback sockets. */
@NullMarked
package dev.kastor.agent.ring;

import org.jspecify.annotations.NullMarked;
