package dev.kastor.agent.servers;

import dev.kastor.agent.ring.PeerLink;
import dev.kastor.agent.ring.RingBrokenException;
import java.io.IOException;

/**
 * Link on which messages flow.
 *
 * @param link closed with it
 */
public record Wire(PeerLink link) implements AutoCloseable {
  /** Sends a message. */
  public void send(Message message) throws RingBrokenException {
    link.send(message.encode());
  }

  /** Waits for the next message; what is none breaks the link. */
  public Message receive() throws RingBrokenException {
    try {
      return Message.decode(link.receive());
    } catch (RingBrokenException e) {
      throw e;
    } catch (IOException e) {
      throw link.refuse(String.valueOf(e.getMessage()));
    }
  }

  /** Waits for a message of a kind; any other breaks the link. */
  public <M extends Message> M receive(Class<M> kind) throws RingBrokenException {
    Message message = receive();
    if (!kind.isInstance(message)) {
      throw unexpected(message);
    }
    return kind.cast(message);
  }

  /** The runs that a worker asks for; what are none of the shard's breaks the link. */
  public Runs fitting(Runs runs, Shard shard) throws RingBrokenException {
    if (!runs.fits(shard.elements())) {
      throw link.refuse("%s, and not of %d".formatted(runs, shard.elements()));
    }
    return runs;
  }

  /** Breaks the link because of a message. */
  public RingBrokenException unexpected(Message message) {
    return link.refuse("unexpected here: " + message.getClass().getSimpleName());
  }

  @Override
  public void close() {
    link.close();
  }
}
