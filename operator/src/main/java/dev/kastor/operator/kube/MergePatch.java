package dev.kastor.operator.kube;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A JSON merge patch of the status of one of our resources as one request.
 *
 * <p>The client's own patch asks for the object first and reads the answer into one; with thousands
 * of jobs that doubles what the API server and the operator have to do.
 */
public final class MergePatch {
  private static final String TYPE = "application/merge-patch+json";
  private static final long LIMIT_SECONDS = 30;

  private MergePatch() {}

  /**
   * Sends it once.
   *
   * @throws KubernetesClientException with the code of a refusal, or 0 if there was no answer
   */
  public static void send(KubernetesClient client, HasMetadata object, String body) {
    String namespace = object.getMetadata().getNamespace();
    String path =
        "apis/%s/%s%s/%s/status"
            .formatted(
                HasMetadata.getApiVersion(object.getClass()),
                namespace == null ? "" : "namespaces/" + namespace + "/",
                HasMetadata.getPlural(object.getClass()),
                object.getMetadata().getName());
    HttpRequest request =
        client
            .getHttpClient()
            .newHttpRequestBuilder()
            .uri(client.getMasterUrl() + path)
            .timeout(LIMIT_SECONDS, TimeUnit.SECONDS)
            .patch(TYPE, body)
            .build();
    HttpResponse<byte[]> answer = answer(client, request);
    if (!answer.isSuccessful()) {
      throw new KubernetesClientException(
          new String(answer.body(), StandardCharsets.UTF_8), answer.code(), null);
    }
  }

  private static HttpResponse<byte[]> answer(KubernetesClient client, HttpRequest request) {
    try {
      return client
          .getHttpClient()
          .sendAsync(request, byte[].class)
          .get(2 * LIMIT_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new KubernetesClientException("interrupted while a status was written", e);
    } catch (ExecutionException | TimeoutException e) {
      throw new KubernetesClientException("no answer to a status that was written", e);
    }
  }
}
