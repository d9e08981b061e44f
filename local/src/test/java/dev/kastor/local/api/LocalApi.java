package dev.kastor.local.api;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.dsl.MixedOperation;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Objects;

/** A server that knows the kind Widget, with a client. */
final class LocalApi implements AutoCloseable {
  private static final ResourceDefinitionContext WIDGETS =
      new ResourceDefinitionContext.Builder()
          .withGroup("test.kastor.dev")
          .withVersion("v1")
          .withKind("Widget")
          .withPlural("widgets")
          .withNamespaced(true)
          .build();

  final ApiServer server;
  final KubernetesClient client;

  LocalApi(Path logs) {
    try (InputStream crd = LocalApi.class.getResourceAsStream("/widgets.yml")) {
      server = ApiServer.start(0, (namespace, pod) -> logs.resolve(namespace + "-" + pod));
      server.define(Objects.requireNonNull(crd));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    client = client(server.tokens().admin());
  }

  KubernetesClient client(String token) {
    Config config =
        new ConfigBuilder(Config.empty())
            .withMasterUrl(server.uri().toString())
            .withOauthToken(token)
            .withRequestRetryBackoffLimit(0)
            .withNamespace("default")
            .build();
    return new KubernetesClientBuilder().withConfig(config).build();
  }

  MixedOperation<
          GenericKubernetesResource,
          io.fabric8.kubernetes.api.model.GenericKubernetesResourceList,
          Resource<GenericKubernetesResource>>
      widgets() {
    return client.genericKubernetesResources(WIDGETS);
  }

  static GenericKubernetesResource widget(String name, String spec) {
    return Serialization.unmarshal(
        """
        {"apiVersion": "test.kastor.dev/v1", "kind": "Widget",
         "metadata": {"name": "%s"}, "spec": %s}
        """
            .formatted(name, spec),
        GenericKubernetesResource.class);
  }

  @Override
  public void close() {
    client.close();
    server.close();
  }
}
