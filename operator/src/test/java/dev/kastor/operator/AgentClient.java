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
final class AgentClient {
  private final HttpClient http;
  private final String base;

  AgentClient(String base, Path certificate) {
    this(base, HttpClient.newBuilder().sslContext(trusting(certificate)).build());
  }

  private AgentClient(String base, HttpClient http) {
    this.base = base;
    this.http = http;
  }

  /** A client with another address of this machine. */
  static AgentClient from(InetAddress local, String base, Path certificate) {
    return new AgentClient(
        base,
        HttpClient.newBuilder().localAddress(local).sslContext(trusting(certificate)).build());
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
        HttpRequest.newBuilder(URI.create(base + path)).timeout(Duration.ofSeconds(60));
    return token.isEmpty() ? builder : builder.header("Authorization", "Bearer " + token);
  }
}
