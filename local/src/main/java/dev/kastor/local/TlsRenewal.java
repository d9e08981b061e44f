package dev.kastor.local;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renewal of the certificate long before its end, also after the machine slept or its clock was set
 * to another day. The operator reads the new files within minutes.
 */
final class TlsRenewal implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(TlsRenewal.class);
  private static final Duration AGE = TlsMaterial.VALIDITY.dividedBy(3);
  private static final Duration PERIOD = Duration.ofMinutes(1);

  private final TlsMaterial material;
  private final InstantSource clock;
  private final Thread thread = Thread.ofVirtual().name("tls-renewal").unstarted(this::run);
  private Instant issued;

  TlsRenewal(TlsMaterial material, InstantSource clock) {
    this.material = material;
    this.clock = clock;
    issued = clock.instant();
  }

  static TlsRenewal start(TlsMaterial material) {
    TlsRenewal renewal = new TlsRenewal(material, InstantSource.system());
    renewal.thread.start();
    return renewal;
  }

  /** Renews the certificate if it is time. */
  void step() {
    Instant now = clock.instant();
    boolean old = now.isAfter(issued.plus(AGE));
    boolean fromTheFuture = now.isBefore(issued.minus(TlsMaterial.BACKDATED.dividedBy(2)));
    if (old || fromTheFuture) {
      try {
        material.renew();
        issued = now;
        LOG.info("the certificate of the agent API was renewed");
      } catch (IOException e) {
        LOG.warn("the certificate of the agent API cannot be renewed yet: {}", e.getMessage());
      }
    }
  }

  private void run() {
    try {
      while (true) {
        Thread.sleep(PERIOD);
        step();
      }
    } catch (InterruptedException e) {
      // Closing.
    }
  }

  @Override
  public void close() {
    thread.interrupt();
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
