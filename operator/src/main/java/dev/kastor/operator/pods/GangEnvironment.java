package dev.kastor.operator.pods;

import dev.kastor.crds.trainingjob.TrainingJob;
import io.fabric8.kubernetes.api.model.EnvVar;
import java.util.ArrayList;
import java.util.List;

/**
 * The variables by which processes of training frameworks find each other: those of PyTorch's
 * {@code env://}, of torchrun ({@code PET_…}), of JAX, and our own.
 *
 * <p>One process of each pod takes part by {@code env://} and in JAX, whatever GPUs it has;
 * torchrun starts one for each GPU of its pod, and numbers them itself.
 */
final class GangEnvironment {
  /** What torchrun and most examples use. */
  static final int PORT = 29500;

  private GangEnvironment() {}

  /** The variables of one pod. */
  static List<EnvVar> of(TrainingJob job, int rank, int size) {
    String master = host(job, 0);
    String replicas = Integer.toString(size);
    String own = Integer.toString(rank);
    String port = Integer.toString(PORT);
    String slots = Integer.toString(job.getSpec().slotsPerReplica());
    List<EnvVar> env = new ArrayList<>();
    env.add(PodEnv.value("MASTER_ADDR", master));
    env.add(PodEnv.value("MASTER_PORT", port));
    env.add(PodEnv.value("WORLD_SIZE", replicas));
    env.add(PodEnv.value("RANK", own));
    env.add(PodEnv.value("LOCAL_RANK", "0"));
    env.add(PodEnv.value("LOCAL_WORLD_SIZE", "1"));
    env.add(PodEnv.value("PET_MASTER_ADDR", master));
    env.add(PodEnv.value("PET_MASTER_PORT", port));
    env.add(PodEnv.value("PET_NNODES", replicas));
    env.add(PodEnv.value("PET_NPROC_PER_NODE", slots));
    env.add(PodEnv.value("PET_NODE_RANK", own));
    env.add(PodEnv.value("JAX_COORDINATOR_ADDRESS", master + ":" + port));
    env.add(PodEnv.value("JAX_NUM_PROCESSES", replicas));
    env.add(PodEnv.value("JAX_PROCESS_ID", own));
    env.add(PodEnv.value("KASTOR_NAMESPACE", job.getMetadata().getNamespace()));
    env.add(PodEnv.value("KASTOR_JOB", job.getMetadata().getName()));
    env.add(PodEnv.value("KASTOR_JOB_UID", job.getMetadata().getUid()));
    env.add(PodEnv.value("KASTOR_REPLICAS", replicas));
    env.add(PodEnv.value("KASTOR_RANK", own));
    env.add(PodEnv.value("KASTOR_LOCAL_SLOTS", slots));
    env.add(PodEnv.field("KASTOR_POD", "metadata.name"));
    env.add(PodEnv.field("KASTOR_NODE", "spec.nodeName"));
    env.add(PodEnv.field("KASTOR_POD_IP", "status.podIP"));
    return env;
  }

  /** The name under which the pod of a rank is known to the cluster's DNS, whatever its start. */
  static String host(TrainingJob job, int rank) {
    return "%s.%s.%s.svc"
        .formatted(
            hostname(job, rank),
            GangService.name(job.getMetadata().getName()),
            job.getMetadata().getNamespace());
  }

  static String hostname(TrainingJob job, int rank) {
    return job.getMetadata().getName() + "-" + rank;
  }
}
