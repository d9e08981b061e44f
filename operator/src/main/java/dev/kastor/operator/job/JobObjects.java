package dev.kastor.operator.job;

import dev.kastor.crds.TrainingJob;
import dev.kastor.operator.OperatorConfig;
import dev.kastor.operator.cluster.Labels;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/** What replicas need besides pods: a Secret with the key of their ring and whom they trust. */
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
      Map<String, String> wanted = content(found.getData().getOrDefault(PodTemplate.RING_KEY, ""));
      if (!wanted.equals(found.getData())) {
        // The authority is another since the job began.
        client.secrets().resource(new SecretBuilder(found).withData(wanted).build()).update();
      }
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
            .withData(content(base64(bytes)))
            .build();
    client.secrets().resource(secret).create();
  }

  private io.fabric8.kubernetes.client.dsl.Resource<Secret> ring(TrainingJob job) {
    return client
        .secrets()
        .inNamespace(job.getMetadata().getNamespace())
        .withName(PodTemplate.ringSecret(job.getMetadata().getName()));
  }

  private Map<String, String> content(String key) {
    Map<String, String> content = new TreeMap<>(Map.of(PodTemplate.RING_KEY, key));
    caFile.ifPresent(file -> content.put(PodTemplate.CA_KEY, base64(certificate(file))));
    return content;
  }

  private static byte[] certificate(Path file) {
    try {
      return Files.readAllBytes(file);
    } catch (IOException e) {
      throw new UncheckedIOException("kastor.ca-file cannot be read", e);
    }
  }

  private static String base64(byte[] bytes) {
    return Base64.getEncoder().encodeToString(bytes);
  }
}
