package dev.kastor.operator.http;

import io.quarkus.vertx.http.HttpServerOptionsCustomizer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.JdkSSLEngineOptions;
import jakarta.inject.Singleton;

/**
 * Encrypts in buffers that are used again. The JDK's engine asks for room for its largest record,
 * however short an answer is: 17 kB of garbage for each of thousands a second.
 */
@Singleton
final class PooledBuffers implements HttpServerOptionsCustomizer {
  @Override
  public void customizeHttpsServer(HttpServerOptions options) {
    options.setSslEngineOptions(new JdkSSLEngineOptions().setPooledHeapBuffers(true));
  }
}
