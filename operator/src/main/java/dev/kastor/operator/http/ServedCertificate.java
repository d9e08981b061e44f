package dev.kastor.operator.http;

import dev.kastor.operator.config.OperatorConfig;
import io.quarkus.vertx.http.HttpServerOptionsCustomizer;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.KeyCertOptions;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;

/**
 * Certificate of the HTTPS server, which is renewed without a restart.
 *
 * <p>Not by Quarkus, whose way is that Vert.x replaces all TLS settings of the server: as long as
 * that takes, each connection that comes is closed, every two minutes.
 */
@Singleton
final class ServedCertificate implements HttpServerOptionsCustomizer {
  private static final Duration LOOK = Duration.ofSeconds(10);

  private final OperatorConfig.Tls config;
  private final Vertx vertx;
  private final InstantSource clock;

  ServedCertificate(OperatorConfig config, Vertx vertx, InstantSource clock) {
    this.config = config.tls();
    this.vertx = vertx;
    this.clock = clock;
  }

  @Override
  public void customizeHttpsServer(HttpServerOptions options) {
    Optional<Path> certificate = config.certificate();
    Optional<Path> key = config.key();
    if (certificate.isEmpty() || key.isEmpty()) {
      return;
    }
    try {
      CertificateFiles files = new CertificateFiles(certificate.get(), key.get(), vertx, clock);
      options.setKeyCertOptions(KeyCertOptions.wrap(files.keys()));
      vertx.setPeriodic(
          LOOK.toMillis(),
          id ->
              vertx.executeBlocking(() -> {
                files.look();
                return null;
              }));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
