package dev.kastor.operator.job;

import dev.kastor.crds.TrainingJob;
import dev.kastor.operator.OperatorConfig;
import dev.kastor.operator.cluster.Labels;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The objects besides pods that replicas need: the ring's secret and the authority they trust. */
@Singleton
public final class JobObjects {
  private static final int SECRET_BYTES = 48;

  private final KubernetesClient client;
  private final Optional<Path> caFile;
  private final SecureRandom random = new SecureRandom();
  private final Set<String> ringsMade = ConcurrentHashMap.newKeySet();

  public JobObjects(KubernetesClient client, OperatorConfig config) {
    this.client = client;
    caFile = config.caFile();
  }

  /** Makes what is missing; call before pods are made. */
  public void ensure(TrainingJob job) {
    ensureCertificate(job.getMetadata().getNamespace());
    if (!ringsMade.contains(job.getMetadata().getUid())) {
      ensureRing(job);
      ringsMade.add(job.getMetadata().getUid());
    }
  }

  /** Removes the secret of a job that is gone. */
  public void removed(TrainingJob job) {
    ringsMade.remove(job.getMetadata().getUid());
    var secret = ring(job);
    Secret found = secret.get();
    if (found != null && Labels.ownedBy(found, job.getMetadata().getUid())) {
      secret.delete();
    }
  }

  private void ensureRing(TrainingJob job) {
    String uid = job.getMetadata().getUid();
    Secret found = ring(job).get();
    if (found != null && Labels.ownedBy(found, uid)) {
      return;
    }
    if (found != null) {
      // Left over from an earlier job of this name, whose replicas must not get into our ring.
      ring(job).delete();
    }
    byte[] bytes = new byte[SECRET_BYTES];
    random.nextBytes(bytes);
    String name = job.getMetadata().getName();
    Secret secret =
        new SecretBuilder()
            .withNewMetadata()
            .withNamespace(job.getMetadata().getNamespace())
            .withName(PodTemplate.ringSecret(name))
            .withLabels(Labels.of(name))
            .withOwnerReferences(PodTemplate.owner(job))
            .endMetadata()
            .withType("Opaque")
            .withData(Map.of(PodTemplate.RING_KEY, Base64.getEncoder().encodeToString(bytes)))
            .build();
    client.secrets().resource(secret).create();
  }

  private io.fabric8.kubernetes.client.dsl.Resource<Secret> ring(TrainingJob job) {
    return client
        .secrets()
        .inNamespace(job.getMetadata().getNamespace())
        .withName(PodTemplate.ringSecret(job.getMetadata().getName()));
  }

  private void ensureCertificate(String namespace) {
    if (caFile.isEmpty()) {
      return;
    }
    String pem;
    try {
      pem = Files.readString(caFile.get());
    } catch (IOException e) {
      throw new UncheckedIOException("kastor.ca-file cannot be read", e);
    }
    var target = client.configMaps().inNamespace(namespace).withName(PodTemplate.CA_CONFIG_MAP);
    ConfigMap found = target.get();
    if (found != null && pem.equals(found.getData().get(PodTemplate.CA_KEY))) {
      return;
    }
    ConfigMap wanted =
        new ConfigMapBuilder()
            .withNewMetadata()
            .withNamespace(namespace)
            .withName(PodTemplate.CA_CONFIG_MAP)
            .withLabels(Map.of(Labels.MANAGED_BY, Labels.MANAGER))
            .endMetadata()
            .withData(Map.of(PodTemplate.CA_KEY, pem))
            .build();
    if (found != null) {
      client.configMaps().resource(wanted).update();
      return;
    }
    try {
      client.configMaps().resource(wanted).create();
    } catch (KubernetesClientException e) {
      // Another job of the namespace was faster.
      if (e.getCode() != HttpURLConnection.HTTP_CONFLICT) {
        throw e;
      }
    }
  }
}
