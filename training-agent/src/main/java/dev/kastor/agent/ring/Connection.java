package dev.kastor.agent.ring;

import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;

/**
 * A connection whose handshake is over; from then on only the connector sends.
 *
 * @param channel its channel
 * @param seal our end of its encryption; null if its connector does not encrypt
 */
record Connection(SocketChannel channel, @Nullable Seal seal) implements AutoCloseable {
  /** The other end notices. */
  @Override
  public void close() {
    Sockets.close(channel);
  }
}
