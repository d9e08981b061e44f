package dev.kastor.agent.ring;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Members of a generation, as one of them reaches them.
 *
 * @param listener where the others reach us
 * @param generation in which the ranks are valid
 * @param rank our rank
 * @param members the members' listeners in rank order
 * @param limits time limits
 * @param abandoned polled while waiting; true gives up
 */
record Peers(
    RingListener listener,
    long generation,
    int rank,
    List<InetSocketAddress> members,
    RingLimits limits,
    BooleanSupplier abandoned) {
  /** Connects to another member. */
  Connection connect(Hello.Purpose purpose, int to) throws IOException {
    Hello.Key connection = new Hello.Key(purpose, generation, rank, to);
    return Sockets.connect(members.get(to), listener.key(), connection, limits, abandoned);
  }

  /** Waits for the connection of another member. */
  Connection take(Hello.Purpose purpose, int from) throws IOException, InterruptedException {
    Hello.Key connection = new Hello.Key(purpose, generation, from, rank);
    return listener.take(connection, limits.connect(), abandoned);
  }
}
