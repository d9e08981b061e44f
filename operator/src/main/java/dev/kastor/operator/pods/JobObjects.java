package dev.kastor.operator.pods;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.kube.JobRecords;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.kube.Provenance;
import dev.kastor.operator.status.Hold;
import dev.kastor.operator.status.JobReason;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import jakarta.inject.Singleton;
import java.net.HttpURLConnection;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The Secret of a job that tells its pods whom they trust: beside it replicas find the key of their
 * ring, and the pods of a gang the tool that reports its steps.
 */
@Singleton
public final class JobObjects {
  private static final int SECRET_BYTES = 48;

  private final KubernetesClient client;
  private final Authority authority;
  private final SecureRandom random = new SecureRandom();

  /** The authority with which the Secret of a job was last seen, by the job's uid. */
  private final Map<String, String> made;

  public JobObjects(JobRecords records, KubernetesClient client, Authority authority) {
    made = records.part();
    this.client = client;
    this.authority = authority;
  }

  /** Name of the Secret. */
  public static String secret(TrainingJob job) {
    return job.getMetadata().getName() + (job.getSpec().gang() ? "-report" : "-ring");
  }

  /** Makes what is missing or out of date; what the job has to wait for if it has the name. */
  Optional<Hold> ensure(TrainingJob job) {
    if (ensured(job)) {
      return Optional.empty();
    }
    String now = authority.certificates().orElse("");
    Optional<Hold> taken = ensureSecret(job);
    if (taken.isEmpty()) {
      made.put(job.getMetadata().getUid(), now);
    }
    return taken;
  }

  /** Whether nothing is missing or out of date, as far as is known here. */
  boolean ensured(TrainingJob job) {
    return authority.certificates().orElse("").equals(made.get(job.getMetadata().getUid()));
  }

  /** Removes the secret of a job that is gone. */
  void removed(TrainingJob job) {
    var secret = stored(job);
    Secret found = secret.get();
    if (found != null && Labels.ownedBy(found, job.getMetadata().getUid())) {
      secret.delete();
    }
  }

  private Optional<Hold> ensureSecret(TrainingJob job) {
    String uid = job.getMetadata().getUid();
    if (neverHadPods(job) && create(job)) {
      return Optional.empty();
    }
    Secret found = stored(job).get();
    if (found != null && Labels.ownedBy(found, uid)) {
      Map<String, String> wanted =
          content(
              job,
              found.getData().getOrDefault(AgentParts.RING_KEY, ""),
              found.getData().get(AgentParts.CA_KEY));
      if (!wanted.equals(found.getData())) {
        // The authority is another since the job began.
        client.secrets().resource(new SecretBuilder(found).withData(wanted).build()).update();
      }
      return Optional.empty();
    }
    if (found != null && !Provenance.claims(found, Labels.id(job))) {
      return Optional.of(taken(job));
    }
    if (found != null) {
      // Left over from an earlier job of this name, whose replicas must not get into our ring.
      client
          .secrets()
          .resource(found)
          .lockResourceVersion(found.getMetadata().getResourceVersion())
          .delete();
    }
    client.secrets().resource(fresh(job)).create();
    return Optional.empty();
  }

  private static Hold taken(TrainingJob job) {
    return new Hold(
        JobReason.SecretNameTaken,
        "Secret %s of namespace %s is not the job's: delete it or submit the job under another name."
            .formatted(secret(job), job.getMetadata().getNamespace()));
  }

  /** Makes the secret of a job that most likely has none; false if there is one of its name. */
  private boolean create(TrainingJob job) {
    try {
      client.secrets().resource(fresh(job)).create();
      return true;
    } catch (KubernetesClientException e) {
      if (e.getCode() == HttpURLConnection.HTTP_CONFLICT) {
        return false;
      }
      throw e;
    }
  }

  private static boolean neverHadPods(TrainingJob job) {
    return job.getStatus() == null || job.getStatus().nextPod() == null;
  }

  private Secret fresh(TrainingJob job) {
    byte[] bytes = new byte[SECRET_BYTES];
    random.nextBytes(bytes);
    String name = job.getMetadata().getName();
    return new SecretBuilder()
        .withNewMetadata()
        .withNamespace(job.getMetadata().getNamespace())
        .withName(secret(job))
        .withLabels(Labels.of(name))
        .withOwnerReferences(PodTemplate.owner(job))
        .endMetadata()
        .withType("Opaque")
        .withData(content(job, base64(bytes), null))
        .build();
  }

  private io.fabric8.kubernetes.client.dsl.Resource<Secret> stored(TrainingJob job) {
    return client.secrets().inNamespace(job.getMetadata().getNamespace()).withName(secret(job));
  }

  private Map<String, String> content(TrainingJob job, String key, @Nullable String trusted) {
    Map<String, String> content = new TreeMap<>();
    if (job.getSpec().gang()) {
      content.put(ReportParts.TOOL, base64(ReportParts.tool().getBytes(UTF_8)));
    } else {
      content.put(AgentParts.RING_KEY, key);
    }
    authority
        .certificates()
        .map(now -> trusted == null ? now : Authority.succeeding(now, text(trusted)))
        .ifPresent(pem -> content.put(AgentParts.CA_KEY, base64(pem.getBytes(UTF_8))));
    return content;
  }

  private static String text(String base64) {
    return new String(Base64.getDecoder().decode(base64), UTF_8);
  }

  private static String base64(byte[] bytes) {
    return Base64.getEncoder().encodeToString(bytes);
  }
}
