package dev.kastor.operator.kube;

import dev.kastor.crds.client.WatchText;
import dev.kastor.operator.metrics.Metrics;
import dev.kastor.operator.signal.Mandate;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.http.AsyncBody;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.fabric8.kubernetes.client.utils.HttpClientUtils;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import jakarta.enterprise.inject.Disposes;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;

/**
 * The client of the API server that all parts share, whose requests are counted and have an end,
 * and whose writes are fenced.
 */
final class CountedRequests {
  /** A list of everything may take this long on a busy API server; nothing else comes near. */
  private static final Duration LONGEST_REQUEST = Duration.ofMinutes(2);

  private CountedRequests() {}

  @Produces
  @Singleton
  static KubernetesClient client(
      KubernetesSerialization serialization,
      Config config,
      Metrics metrics,
      Mandate mandate,
      ApiBackoff backoff) {
    return new KubernetesClientBuilder()
        .withHttpClientFactory(
            new BoundedHttpClients(HttpClientUtils.getHttpClientFactory(), LONGEST_REQUEST))
        .withKubernetesSerialization(serialization)
        .withConfig(config)
        .withHttpClientBuilderConsumer(http ->
            http.addOrReplaceInterceptor("kastor-count", new Count(metrics))
                .addOrReplaceInterceptor(WatchText.NAME, new WatchText())
                .addOrReplaceInterceptor("kastor-write-fence", new WriteFence(mandate))
                .addOrReplaceInterceptor("kastor-backoff", backoff))
        .build();
  }

  static void close(@Disposes KubernetesClient client) {
    client.close();
  }

  private record Count(Metrics metrics) implements Interceptor {
    @Override
    public void after(
        HttpRequest request,
        HttpResponse<?> response,
        AsyncBody.Consumer<List<ByteBuffer>> consumer) {
      metrics.apiRequest(request.method(), String.valueOf(response.code()));
    }

    @Override
    public void afterConnectionFailure(HttpRequest request, Throwable failure) {
      metrics.apiRequest(request.method(), "none");
    }
  }
}
