package dev.kastor.e2e;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.LocalPortForward;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;

/** The operator that leads, as one who may forward its ports sees it. */
record Operator(KubernetesClient client, String namespace) {
  private static final int PLAIN = 8080;
  private static final int AGENTS = 8443;
  private static final int PATIENCE_MILLIS = 10_000;
  private static final int PATIENCE_SECONDS = 60;

  /** What the plain port answers. */
  String get(String path) throws IOException, InterruptedException {
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

  /** The serial number of the certificate that agents are shown. */
  String certificate() throws IOException, GeneralSecurityException {
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
