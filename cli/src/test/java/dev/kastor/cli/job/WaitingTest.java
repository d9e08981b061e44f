package dev.kastor.cli.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.cli.connect.Cluster;
import io.fabric8.kubernetes.client.ConfigBuilder;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

final class WaitingTest {
  private static final Duration PATIENCE = Duration.ofMinutes(10);

  @Tag("slow")
  @Test
  void whoIsInterruptedInARequestIsInterrupted() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Cluster cluster =
            Cluster.connect(
                new ConfigBuilder()
                    .withAutoConfigure(false)
                    .withMasterUrl("http://127.0.0.1:" + silent.getLocalPort())
                    .build())) {
      CompletableFuture<Throwable> thrown = new CompletableFuture<>();
      Thread waits =
          Thread.ofPlatform()
              .start(() -> {
                try {
                  new Waiting(cluster, new PrintWriter(new StringWriter()))
                      .until(List.of(new Waiting.Job("default", "long")));
                } catch (InterruptedException | RuntimeException e) {
                  thrown.complete(e);
                }
              });
      try (Socket request = silent.accept()) {
        // The request is under way: it never gets an answer.
        assertThat(request.getInputStream().read()).isPositive();
        waits.interrupt();
        assertThat(waits.join(PATIENCE)).isTrue();
      }
      assertThat(thrown.join()).isInstanceOf(InterruptedException.class);
    }
  }
}
