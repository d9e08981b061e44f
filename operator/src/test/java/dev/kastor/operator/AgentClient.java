package dev.kastor.operator;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Plain HTTPS calls of the agent API. */
final class AgentClient implements AutoCloseable {
  private final HttpClient http;
  private final String base;
  private final Path certificate;

  AgentClient(String base, Path certificate) {
    this(base, certificate, HttpClient.newBuilder());
  }

  private AgentClient(String base, Path certificate, HttpClient.Builder http) {
    this.base = base;
    this.certificate = certificate;
    this.http = http.sslContext(trusting(certificate)).build();
  }

  /** A client with another address of this machine. */
  static AgentClient from(InetAddress local, String base, Path certificate) {
    return new AgentClient(base, certificate, HttpClient.newBuilder().localAddress(local));
  }

  /** The same with connections of its own, as another process has. */
  AgentClient another() {
    return new AgentClient(base, certificate);
  }

  @Override
  public void close() {
    http.shutdownNow();
  }

  /** Trusts one certificate only. */
  static SSLContext trusting(Path certificate) {
    try {
      KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
      trusted.load(null, null);
      try (InputStream in = Files.newInputStream(certificate)) {
        trusted.setCertificateEntry(
            "ca", CertificateFactory.getInstance("X.509").generateCertificate(in));
      }
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(trusted);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, trust.getTrustManagers(), null);
      return context;
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalStateException(e);
    }
  }

  HttpResponse<String> get(String path, String token) throws IOException, InterruptedException {
    return http.send(request(path, token).GET().build(), HttpResponse.BodyHandlers.ofString());
  }

  HttpResponse<String> post(String path, String token, byte[] body)
      throws IOException, InterruptedException {
    return http.send(
        request(path, token)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofByteArray(body))
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  /** A POST with headers of the caller's choice, in pairs of name and value. */
  HttpResponse<String> post(String path, byte[] body, String... headers)
      throws IOException, InterruptedException {
    return http.send(
        request(path, "")
            .headers(headers)
            .POST(HttpRequest.BodyPublishers.ofByteArray(body))
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private HttpRequest.Builder request(String path, String token) {
    HttpRequest.Builder builder =
        HttpRequest.newBuilder(URI.create(base + path)).timeout(Duration.ofMinutes(10));
    return token.isEmpty() ? builder : builder.header("Authorization", "Bearer " + token);
  }
}
