package dev.kastor.operator.kube;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.fabric8.kubernetes.client.http.TlsVersion;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManager;
import javax.net.ssl.TrustManager;
import org.jspecify.annotations.Nullable;

/** Makes clients whose every request has an end. */
record BoundedHttpClients(HttpClient.Factory beneath, Duration limit)
    implements HttpClient.Factory {
  @Override
  public HttpClient.Builder newBuilder() {
    return new Builder(beneath.newBuilder(), limit);
  }

  @Override
  public HttpClient.Builder newBuilder(Config config) {
    return new Builder(beneath.newBuilder(config), limit);
  }

  private record Builder(HttpClient.Builder beneath, Duration limit) implements HttpClient.Builder {
    @Override
    public HttpClient build() {
      return new BoundedHttpClient(beneath.build(), limit);
    }

    @Override
    public HttpClient.Builder connectTimeout(long time, TimeUnit unit) {
      beneath.connectTimeout(time, unit);
      return this;
    }

    @Override
    public HttpClient.Builder addOrReplaceInterceptor(String name, Interceptor interceptor) {
      beneath.addOrReplaceInterceptor(name, interceptor);
      return this;
    }

    @Override
    public HttpClient.Builder authenticatorNone() {
      beneath.authenticatorNone();
      return this;
    }

    @Override
    public HttpClient.Builder sslContext(
        KeyManager @Nullable [] keys, TrustManager @Nullable [] trust) {
      beneath.sslContext(keys, trust);
      return this;
    }

    @Override
    public HttpClient.Builder followAllRedirects() {
      beneath.followAllRedirects();
      return this;
    }

    @Override
    public HttpClient.Builder proxyAddress(InetSocketAddress address) {
      beneath.proxyAddress(address);
      return this;
    }

    @Override
    public HttpClient.Builder proxyAuthorization(String credentials) {
      beneath.proxyAuthorization(credentials);
      return this;
    }

    @Override
    public HttpClient.Builder tlsVersions(TlsVersion... versions) {
      beneath.tlsVersions(versions);
      return this;
    }

    @Override
    public HttpClient.Builder preferHttp11() {
      beneath.preferHttp11();
      return this;
    }

    @Override
    public HttpClient.Builder proxyType(HttpClient.ProxyType type) {
      beneath.proxyType(type);
      return this;
    }

    @Override
    public HttpClient.DerivedClientBuilder tag(Object tag) {
      beneath.tag(tag);
      return this;
    }
  }
}
