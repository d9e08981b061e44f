package dev.kastor.operator.http;

import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.util.List;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Filter of the log: what a client does to its own connection is no error of the operator, and any
 * stranger could fill a disk with it. Other errors of the same classes are logged.
 */
@Singleton
final class ClientErrors {
  /** Referenced from here: a logger without a reference loses its filter. */
  private final List<Logger> filtered =
      Stream.of(
              "io.quarkus.vertx.core.runtime.VertxCoreRecorder",
              "io.vertx.core.net.impl.ConnectionBase",
              "org.jboss.resteasy.reactive.server.handlers.PublisherResponseHandler")
          .map(Logger::getLogger)
          .toList();

  void filter(@Observes StartupEvent started) {
    filtered.forEach(logger -> logger.setFilter(ClientErrors::isOfTheOperator));
  }

  private static boolean isOfTheOperator(LogRecord record) {
    Throwable thrown = record.getThrown();
    return !(thrown instanceof IOException) && !isBadHost(thrown);
  }

  /** Vert.x throws at some Host headers, before any route; the connection ends unanswered. */
  private static boolean isBadHost(@Nullable Throwable thrown) {
    return thrown instanceof StringIndexOutOfBoundsException
        && Stream.of(thrown.getStackTrace())
            .anyMatch(
                frame -> frame.getClassName().equals("io.vertx.core.net.impl.HostAndPortImpl"));
  }
}
