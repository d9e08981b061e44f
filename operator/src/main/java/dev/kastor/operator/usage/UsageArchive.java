package dev.kastor.operator.usage;

import dev.kastor.operator.kube.Labels;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Usage of jobs that are gone and its one writer: the ConfigMap {@value #NAME} of the operator's
 * own namespace. It is written when a job has gone, and never before it was read.
 */
@Singleton
public final class UsageArchive {
  /** Name of the ConfigMap. */
  public static final String NAME = "kastor-usage";

  /** Key of its one entry. */
  public static final String KEY = "usage.json";

  private static final Logger LOG = LoggerFactory.getLogger(UsageArchive.class);

  private final KubernetesClient client;
  private GoneUsage gone = new GoneUsage();
  private boolean read;
  private boolean changed;

  UsageArchive(KubernetesClient client) {
    this.client = client;
  }

  /** Begins with what an earlier operator left. */
  synchronized void takeOver() {
    gone = new GoneUsage();
    read = false;
    changed = false;
    read();
  }

  private void read() {
    try {
      ConfigMap found = stored().get();
      String text = found == null || found.getData() == null ? null : found.getData().get(KEY);
      if (text != null) {
        gone.addAll(text);
      }
      read = true;
    } catch (IllegalArgumentException e) {
      LOG.warn("ConfigMap {}, {}: {}. Ignored.", NAME, KEY, e.getMessage());
      read = true;
    } catch (KubernetesClientException e) {
      LOG.warn("ConfigMap {} cannot be read yet: {}", NAME, e.getMessage());
    }
  }

  /** Adds the usage of a job that is gone. */
  synchronized void add(List<UsageRow> rows) {
    rows.forEach(gone::add);
    changed |= !rows.isEmpty();
  }

  synchronized List<UsageRow> rows() {
    return gone.rows();
  }

  /** Writes what has changed. */
  synchronized void write() {
    if (!read) {
      read();
    }
    if (!read || !changed) {
      return;
    }
    Map<String, String> data = Map.of(KEY, gone.text());
    try {
      ConfigMap found = stored().get();
      if (found == null) {
        client
            .configMaps()
            .resource(
                new ConfigMapBuilder()
                    .withNewMetadata()
                    .withNamespace(namespace())
                    .withName(NAME)
                    .withLabels(Map.of(Labels.MANAGED_BY, Labels.MANAGER))
                    .endMetadata()
                    .withData(data)
                    .build())
            .create();
      } else {
        // Labels and annotations belong to whoever made it, such as the chart.
        client.configMaps().resource(new ConfigMapBuilder(found).withData(data).build()).update();
      }
      changed = false;
    } catch (KubernetesClientException e) {
      LOG.warn("ConfigMap {} cannot be written: {}", NAME, e.getMessage());
    }
  }

  private Resource<ConfigMap> stored() {
    return client.configMaps().inNamespace(namespace()).withName(NAME);
  }

  private String namespace() {
    String own = client.getNamespace();
    return own == null ? "default" : own;
  }
}
