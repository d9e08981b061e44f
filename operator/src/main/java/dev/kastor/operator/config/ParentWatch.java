package dev.kastor.operator.config;

import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends the operator when the process that started it is gone, if {@code KASTOR_EXIT_WITH_PARENT}
 * says so: its standard input is then a pipe that the parent holds open.
 */
@Singleton
public final class ParentWatch {
  private static final Logger LOG = LoggerFactory.getLogger(ParentWatch.class);

  void onStart(@Observes StartupEvent event) {
    if ("true".equals(System.getenv("KASTOR_EXIT_WITH_PARENT"))) {
      Thread.ofPlatform().daemon().name("parent-watch").start(ParentWatch::watch);
    }
  }

  private static void watch() {
    try {
      while (System.in.read() >= 0) {
        // Nothing is said over this pipe; its end is the message.
      }
    } catch (IOException e) {
      LOG.debug("standard input broke", e);
    }
    LOG.info("the parent process is gone; ending");
    Quarkus.asyncExit(0);
  }
}
