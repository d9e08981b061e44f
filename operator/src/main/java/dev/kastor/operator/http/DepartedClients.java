package dev.kastor.operator.http;

import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.util.List;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.Stream;

/**
 * Filter of the log: a client that leaves before its answer is no error of the operator. Other
 * errors of the same classes are logged.
 */
@Singleton
final class DepartedClients {
  /** Kept here: a logger that nobody holds loses its filter. */
  private final List<Logger> tellers =
      Stream.of(
              "io.vertx.core.net.impl.ConnectionBase",
              "org.jboss.resteasy.reactive.server.handlers.PublisherResponseHandler")
          .map(Logger::getLogger)
          .toList();

  void filter(@Observes StartupEvent started) {
    tellers.forEach(teller -> teller.setFilter(DepartedClients::isNews));
  }

  private static boolean isNews(LogRecord record) {
    return !(record.getThrown() instanceof IOException);
  }
}
