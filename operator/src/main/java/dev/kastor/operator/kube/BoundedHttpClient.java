package dev.kastor.operator.kube;

import io.fabric8.kubernetes.client.http.AsyncBody;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.fabric8.kubernetes.client.http.WebSocket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * A client whose every request has an end.
 *
 * <p>Who asks waits without a limit for the answer that the client beneath promises, and an answer
 * whose body stops half-way leaves that promise open; whoever waits for it, say the reconciliation
 * of a job, would never be heard of again. Watches and streams have no end of themselves and pass
 * as they are.
 *
 * @param limit from the first attempt to the end of the body, retries included
 */
record BoundedHttpClient(HttpClient beneath, Duration limit) implements HttpClient {
  @Override
  public <T> CompletableFuture<HttpResponse<T>> sendAsync(HttpRequest request, Class<T> type) {
    // Not the promise itself: what is retried beneath must not see it as broken.
    return beneath
        .sendAsync(request, type)
        .copy()
        .orTimeout(limit.toMillis(), TimeUnit.MILLISECONDS);
  }

  @Override
  public CompletableFuture<HttpResponse<AsyncBody>> consumeBytes(
      HttpRequest request, AsyncBody.Consumer<List<ByteBuffer>> consumer) {
    return beneath.consumeBytes(request, consumer);
  }

  @Override
  public DerivedClientBuilder newBuilder() {
    return new Derived(beneath.newBuilder(), limit);
  }

  @Override
  public WebSocket.Builder newWebSocketBuilder() {
    return beneath.newWebSocketBuilder();
  }

  @Override
  public HttpRequest.Builder newHttpRequestBuilder() {
    return beneath.newHttpRequestBuilder();
  }

  @Override
  public boolean isClosed() {
    return beneath.isClosed();
  }

  @Override
  public void close() {
    beneath.close();
  }

  private record Derived(DerivedClientBuilder beneath, Duration limit)
      implements DerivedClientBuilder {
    @Override
    public HttpClient build() {
      return new BoundedHttpClient(beneath.build(), limit);
    }

    @Override
    public DerivedClientBuilder addOrReplaceInterceptor(String name, Interceptor interceptor) {
      beneath.addOrReplaceInterceptor(name, interceptor);
      return this;
    }

    @Override
    public DerivedClientBuilder authenticatorNone() {
      beneath.authenticatorNone();
      return this;
    }

    @Override
    public DerivedClientBuilder tag(Object tag) {
      beneath.tag(tag);
      return this;
    }
  }
}
