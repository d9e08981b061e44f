/** A rendezvous between processes, over TCP with TLS. */
@NullMarked
package dev.kastor.engine.partition.tcp;

import org.jspecify.annotations.NullMarked;
