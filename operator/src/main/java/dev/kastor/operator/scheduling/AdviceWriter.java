package dev.kastor.operator.scheduling;

import dev.kastor.operator.kube.Labels;
import dev.kastor.scheduler.advice.NodeAdvice;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Leaves the advice on nodes where those can read it who see only the API server: in the ConfigMap
 * {@value #NAME} of the operator's own namespace, a sentence for each GPU type. Used by one thread;
 * it writes where advice has changed, which is once a minute at most.
 */
@Singleton
public final class AdviceWriter {
  /** Name of the ConfigMap. */
  public static final String NAME = "kastor-advice";

  /** Key of the advice on nodes whose GPU type nobody names. */
  static final String ANY_TYPE = "nodes";

  private static final Logger LOG = LoggerFactory.getLogger(AdviceWriter.class);

  private final KubernetesClient client;
  private final StandingAdvice advice;
  private @Nullable Map<String, String> written;

  public AdviceWriter(KubernetesClient client, StandingAdvice advice) {
    this.client = client;
    this.advice = advice;
  }

  /** Writes what has changed; what an earlier operator left goes if nobody wants advice now. */
  public void writeIfChanged() {
    Map<String, String> wanted = sentences(advice.current());
    if (wanted.equals(written)) {
      return;
    }
    // Not again before the advice changes, be it that the API server refuses.
    written = wanted;
    ConfigMap map =
        new ConfigMapBuilder()
            .withNewMetadata()
            .withNamespace(namespace())
            .withName(NAME)
            .withLabels(Map.of(Labels.MANAGED_BY, Labels.MANAGER))
            .endMetadata()
            .withData(wanted)
            .build();
    try {
      ConfigMap found = stored().get();
      if (found != null) {
        // Labels and annotations belong to whoever made it, such as the chart.
        client.configMaps().resource(new ConfigMapBuilder(found).withData(wanted).build()).update();
      } else if (!wanted.isEmpty()) {
        client.configMaps().resource(map).create();
      }
    } catch (KubernetesClientException e) {
      LOG.warn("ConfigMap {} cannot be written: {}", NAME, e.getMessage());
    }
  }

  private static Map<String, String> sentences(List<NodeAdvice> current) {
    Map<String, String> sentences = new TreeMap<>();
    for (NodeAdvice each : current) {
      String key = each.gpuType().isEmpty() ? ANY_TYPE : each.gpuType();
      sentences.put(key, each.reason().message());
    }
    return sentences;
  }

  private Resource<ConfigMap> stored() {
    return client.configMaps().inNamespace(namespace()).withName(NAME);
  }

  private String namespace() {
    String own = client.getNamespace();
    return own == null ? "default" : own;
  }
}
