package dev.kastor.operator.pods;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.kube.JobRecords;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.kube.Provenance;
import dev.kastor.operator.status.Hold;
import dev.kastor.operator.status.JobReason;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import jakarta.inject.Singleton;
import java.net.HttpURLConnection;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The headless Service that gives the pods of a gang their names in the cluster's DNS. */
@Singleton
public final class GangService {
  private final KubernetesClient client;
  private final Set<String> made;

  public GangService(JobRecords records, KubernetesClient client) {
    made = records.flags();
    this.client = client;
  }

  /** Name of the Service of a job. */
  public static String name(String job) {
    return job + "-gang";
  }

  /** Makes the Service if it is missing; what the job has to wait for if it has the name. */
  Optional<Hold> ensure(TrainingJob job) {
    String uid = job.getMetadata().getUid();
    if (made.contains(uid)) {
      return Optional.empty();
    }
    String namespace = job.getMetadata().getNamespace();
    String name = name(job.getMetadata().getName());
    try {
      client.services().inNamespace(namespace).resource(service(job)).create();
    } catch (KubernetesClientException e) {
      if (e.getCode() != HttpURLConnection.HTTP_CONFLICT) {
        throw e;
      }
      Service found = client.services().inNamespace(namespace).withName(name).get();
      if (found != null
          && Provenance.claims(found, Labels.id(job))
          && !Labels.ownedBy(found, uid)) {
        // Left over from an earlier job of this name.
        client
            .services()
            .resource(found)
            .lockResourceVersion(found.getMetadata().getResourceVersion())
            .delete();
        client.services().inNamespace(namespace).resource(service(job)).create();
      } else if (found != null && !Labels.ownedBy(found, uid)) {
        return Optional.of(
            new Hold(
                JobReason.ServiceNameTaken,
                "Service %s of namespace %s is not the job's: delete it or submit the job under another name."
                    .formatted(name, namespace)));
      }
    }
    made.add(uid);
    return Optional.empty();
  }

  /** Removes the Service of a job that is gone. */
  void removed(TrainingJob job) {
    if (!job.getSpec().gang()) {
      return;
    }
    var service =
        client
            .services()
            .inNamespace(job.getMetadata().getNamespace())
            .withName(name(job.getMetadata().getName()));
    Service found = service.get();
    if (found != null && Labels.ownedBy(found, job.getMetadata().getUid())) {
      service.delete();
    }
  }

  private static Service service(TrainingJob job) {
    String name = job.getMetadata().getName();
    return new ServiceBuilder()
        .withNewMetadata()
        .withName(name(name))
        .withNamespace(job.getMetadata().getNamespace())
        .withLabels(Labels.of(name))
        .withOwnerReferences(PodTemplate.owner(job))
        .endMetadata()
        .withNewSpec()
        .withClusterIP("None")
        // The pods look for each other before any of them says that it is ready.
        .withPublishNotReadyAddresses(true)
        .withSelector(Map.of(Labels.JOB, name))
        .addNewPort()
        .withName("master")
        .withPort(GangEnvironment.PORT)
        .endPort()
        .endSpec()
        .build();
  }
}
