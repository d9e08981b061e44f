package dev.kastor.e2e.cluster;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.LocalPortForward;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;

/** The operator that leads, as one who may forward its ports sees it. */
public record Operator(KubernetesClient client, String namespace) {
  private static final int PLAIN = 8080;
  private static final int AGENTS = 8443;
  private static final int PATIENCE_MILLIS = 10_000;
  private static final int PATIENCE_SECONDS = 60;

  /** What the plain port answers. */
  public String get(String path) throws IOException, InterruptedException {
    try (LocalPortForward forward = forward(PLAIN);
        HttpClient http = HttpClient.newHttpClient()) {
      return http.send(
              HttpRequest.newBuilder(
                      URI.create("http://127.0.0.1:%d%s".formatted(forward.getLocalPort(), path)))
                  .timeout(Duration.ofMillis(PATIENCE_MILLIS))
                  .build(),
              HttpResponse.BodyHandlers.ofString())
          .body();
    }
  }

  /** What the plain port answers to who shows a token; an empty one is none. */
  public HttpResponse<String> get(String path, String token)
      throws IOException, InterruptedException {
    try (LocalPortForward forward = forward(PLAIN);
        HttpClient http = HttpClient.newHttpClient()) {
      HttpRequest.Builder request =
          HttpRequest.newBuilder(
                  URI.create("http://127.0.0.1:%d%s".formatted(forward.getLocalPort(), path)))
              .timeout(Duration.ofMillis(PATIENCE_MILLIS));
      if (!token.isEmpty()) {
        request.header("Authorization", "Bearer " + token);
      }
      return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }
  }

  /** The status with which the agent API answers a body. */
  public int report(String path, String token, String body)
      throws IOException, GeneralSecurityException {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, new TrustManager[] {new Anyone()}, null);
    try (LocalPortForward forward = forward(AGENTS);
        SSLSocket socket =
            (SSLSocket)
                context.getSocketFactory().createSocket("127.0.0.1", forward.getLocalPort())) {
      socket.setSoTimeout(PATIENCE_MILLIS);
      String request =
          """
          POST %s HTTP/1.1\r
          Host: operator\r
          Connection: close\r
          Content-Type: application/json\r
          Authorization: Bearer %s\r
          Content-Length: %d\r
          \r
          %s\
          """
              .formatted(path, token, body.length(), body);
      socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
      String answer =
          new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
      return Integer.parseInt(answer.split(" ", 3)[1]);
    }
  }

  /** The serial number of the certificate that agents are shown. */
  public String certificate() throws IOException, GeneralSecurityException {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, new TrustManager[] {new Anyone()}, null);
    try (LocalPortForward forward = forward(AGENTS);
        SSLSocket socket =
            (SSLSocket)
                context.getSocketFactory().createSocket("127.0.0.1", forward.getLocalPort())) {
      socket.setSoTimeout(PATIENCE_MILLIS);
      socket.startHandshake();
      X509Certificate shown = (X509Certificate) socket.getSession().getPeerCertificates()[0];
      return shown.getSerialNumber().toString(16);
    }
  }

  private LocalPortForward forward(int port) {
    return client
        .pods()
        .inNamespace(namespace)
        .withName(leader().getMetadata().getName())
        .portForward(port);
  }

  /** Who leads; after an upgrade it takes a moment until somebody does. */
  private Pod leader() {
    return client
        .pods()
        .inNamespace(namespace)
        .withLabel("kastor.dev/leader", "true")
        .waitUntilCondition(
            pod -> pod != null && pod.getMetadata().getDeletionTimestamp() == null,
            PATIENCE_SECONDS,
            TimeUnit.SECONDS);
  }

  /** It is looked at, not believed. */
  private static final class Anyone implements X509TrustManager {
    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) {}

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }
}
