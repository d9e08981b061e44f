package dev.kastor.operator.kube;

import dev.kastor.operator.signal.Mandate;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import java.util.Set;

/**
 * Lets no change of the cluster out of an operator that may not write, whatever part of it asks.
 *
 * <p>To the asker it is as if the API server were away. Works on the first try of a request, so the
 * client must not try again by itself: {@code request-retry-backoff-limit} is 0.
 */
public final class WriteFence implements Interceptor {
  private static final Set<String> READS = Set.of("GET", "HEAD", "OPTIONS");

  private final Mandate mandate;

  /** Asks the mandate before each request. */
  public WriteFence(Mandate mandate) {
    this.mandate = mandate;
  }

  @Override
  public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
    if (!mandate.mayWrite() && changes(request)) {
      throw new NotSent(
          "this operator does not hold the lease, so it does not write: %s %s"
              .formatted(request.method(), request.uri().getPath()));
    }
  }

  /** Reviews are questions, though they are asked by POST. */
  private static boolean changes(HttpRequest request) {
    String path = request.uri().getPath();
    return !READS.contains(request.method())
        && !path.contains("/apis/authentication.k8s.io/")
        && !path.contains("/apis/authorization.k8s.io/");
  }
}
