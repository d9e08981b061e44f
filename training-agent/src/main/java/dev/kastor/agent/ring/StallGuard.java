package dev.kastor.agent.ring;

import java.time.Duration;

/** Closes a connection on which nothing has moved for a while; the blocked side then fails. */
final class StallGuard implements AutoCloseable {
  private static final int CHECKS_PER_LIMIT = 10;

  private final Connection connection;
  private final Duration limit;
  private final Thread watch;
  private volatile long lastMoveNanos = System.nanoTime();

  StallGuard(Connection connection, Duration limit) {
    this.connection = connection;
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
      connection.close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    watch.interrupt();
  }
}
