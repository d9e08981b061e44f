package dev.kastor.operator.kube;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.scheduler.model.JobId;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.OwnerReference;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Labels and annotations on the objects that the operator makes. */
public final class Labels {
  public static final String JOB = "kastor.dev/job";
  public static final String MANAGED_BY = "app.kubernetes.io/managed-by";
  public static final String MANAGER = "kastor";

  /** Annotation of a pod: the node that the scheduler chose. */
  public static final String NODE = "kastor.dev/node";

  /** Annotations of a gang's pod: number of the first pod of its start, and how many there are. */
  public static final String GANG_FIRST = "kastor.dev/gang-first";

  public static final String GANG_SIZE = "kastor.dev/gang-size";

  /** Annotation of a pod: names of the containers that the operator asked for. */
  public static final String CONTAINERS = "kastor.dev/containers";

  /** Label of a pod that is no replica: what else it is. */
  public static final String ROLE = "kastor.dev/role";

  /** The role of parameter servers. */
  public static final String SERVER = "server";

  /** Label of a parameter server: which shard it has. */
  public static final String SERVER_INDEX = "kastor.dev/server-index";

  private Labels() {}

  /** The labels of everything that belongs to a job. */
  public static Map<String, String> of(String job) {
    return new TreeMap<>(Map.of(JOB, job, MANAGED_BY, MANAGER));
  }

  /** The labels of a job's parameter server, by which people and selectors find it. */
  public static Map<String, String> ofServer(String job, int index) {
    Map<String, String> labels = of(job);
    labels.put(ROLE, SERVER);
    labels.put(SERVER_INDEX, Integer.toString(index));
    return labels;
  }

  /** Selector of the pods of a job's replicas. */
  public static String replicas(TrainingJob job) {
    String all = JOB + "=" + job.getMetadata().getName();
    return JobServers.count(job) == 0 ? all : all + "," + ROLE + "!=" + SERVER;
  }

  /** The job that an object says it belongs to; of a pod, {@link Provenance} knows what is true. */
  public static Optional<JobId> job(HasMetadata object) {
    ObjectMeta metadata = object.getMetadata();
    Map<String, String> labels = metadata.getLabels();
    String job = labels == null ? null : labels.get(JOB);
    return job != null && MANAGER.equals(labels.get(MANAGED_BY))
        ? Optional.of(new JobId(metadata.getNamespace(), job))
        : Optional.empty();
  }

  /** Whether the object is controlled by the owner with this uid. */
  public static boolean ownedBy(HasMetadata object, String uid) {
    for (OwnerReference owner : object.getMetadata().getOwnerReferences()) {
      if (uid.equals(owner.getUid())) {
        return true;
      }
    }
    return false;
  }

  /** Whether both are versions of one object, and not two of one name. */
  public static boolean sameUid(HasMetadata one, HasMetadata other) {
    return one.getMetadata().getUid().equals(other.getMetadata().getUid());
  }

  /** The name of a resource as a job's id. */
  public static JobId id(HasMetadata job) {
    return new JobId(job.getMetadata().getNamespace(), job.getMetadata().getName());
  }
}
