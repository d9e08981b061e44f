package dev.kastor.operator.kube;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.HttpClientUtils;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Requests whose answer begins and never ends. */
class BoundedHttpClientIT {
  private static final String HALF_AN_ANSWER =
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"kind\":";

  @Test
  void anAnswerThatBreaksOffIsWaitedForNoLongerThanTheLimit() throws IOException {
    try (ServerSocket server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
        KubernetesClient client = client(server.getLocalPort())) {
      Thread.ofVirtual().start(() -> answerHalf(server));
      assertThatThrownBy(() -> client.pods().inNamespace("team").withName("a").get())
          .isInstanceOf(KubernetesClientException.class);
      assertThat(client.getHttpClient().newBuilder().build())
          .as("clients made from it are bounded too")
          .isInstanceOf(BoundedHttpClient.class);
    }
  }

  private static KubernetesClient client(int port) {
    return new KubernetesClientBuilder()
        .withHttpClientFactory(
            new BoundedHttpClients(HttpClientUtils.getHttpClientFactory(), Duration.ofSeconds(1)))
        .withConfig(
            new ConfigBuilder()
                .withMasterUrl("http://127.0.0.1:" + port)
                .withRequestRetryBackoffLimit(0)
                .build())
        .build();
  }

  /** Keeps the connection open, as a server does whose host has stopped. */
  private static void answerHalf(ServerSocket server) {
    try (Socket socket = server.accept();
        InputStream in = socket.getInputStream()) {
      byte[] request = new byte[4096];
      if (in.read(request) > 0) {
        socket.getOutputStream().write(HALF_AN_ANSWER.getBytes(StandardCharsets.US_ASCII));
        socket.getOutputStream().flush();
      }
      while (in.read(request) >= 0) {}
    } catch (IOException e) {
      // The client went away, as it should.
    }
  }
}
