package dev.kastor.agent.ring;

import java.nio.channels.SocketChannel;
import java.time.Duration;

/** Closes a connection on which nothing has moved for a while; the blocked side then fails. */
final class StallGuard implements AutoCloseable {
  private static final int CHECKS_PER_LIMIT = 10;

  private final SocketChannel channel;
  private final Duration limit;
  private final Thread watch;
  private volatile long lastMoveNanos = System.nanoTime();

  StallGuard(SocketChannel channel, Duration limit) {
    this.channel = channel;
    this.limit = limit;
    this.watch = Thread.ofVirtual().name("stall-guard").unstarted(this::watch);
    watch.start();
  }

  void moved() {
    lastMoveNanos = System.nanoTime();
  }

  private void watch() {
    try {
      while (System.nanoTime() - lastMoveNanos < limit.toNanos()) {
        Thread.sleep(limit.dividedBy(CHECKS_PER_LIMIT));
      }
      Sockets.close(channel);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    watch.interrupt();
  }
}
