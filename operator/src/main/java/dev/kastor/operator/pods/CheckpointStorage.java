package dev.kastor.operator.pods;

import dev.kastor.crds.profile.ProfileSpec;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.config.OperatorConfig;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMount;
import java.util.Optional;

/**
 * Storage of checkpoints. Each job has a folder of its own, {@code NAME-UID}, in the claim of its
 * namespace or in the namespace's folder of the nodes.
 */
final class CheckpointStorage {
  private final OperatorConfig config;

  CheckpointStorage(OperatorConfig config) {
    this.config = config;
  }

  /** Whether what one pod of a job saves can be read by another. */
  boolean shared(ProfileSpec profile) {
    return claim(profile).isPresent() || hostPath(profile).isPresent();
  }

  /** A volume with the job's folder, or with the folders of all jobs of its namespace. */
  Volume volume(String name, TrainingJob job, ProfileSpec profile) {
    var volume = new VolumeBuilder().withName(name);
    Optional<String> claim = claim(profile);
    if (claim.isPresent()) {
      return volume
          .withNewPersistentVolumeClaim()
          .withClaimName(claim.get())
          .endPersistentVolumeClaim()
          .build();
    }
    Optional<String> hostPath = hostPath(profile);
    if (hostPath.isPresent()) {
      return volume
          .withNewHostPath()
          .withPath(
              "%s/%s/%s".formatted(hostPath.get(), job.getMetadata().getNamespace(), folder(job)))
          .withType("DirectoryOrCreate")
          .endHostPath()
          .build();
    }
    // Nothing is shared: a restart of the whole job then starts over, live changes do not.
    return volume.withNewEmptyDir().endEmptyDir().build();
  }

  /** A mount that shows the job's folder alone. */
  VolumeMount mount(
      String name, String path, boolean readOnly, TrainingJob job, ProfileSpec profile) {
    VolumeMount mount = AgentParts.mount(name, path, readOnly);
    if (claim(profile).isPresent()) {
      // Jobs of a namespace share the claim.
      mount.setSubPath(folder(job));
    }
    return mount;
  }

  private static String folder(TrainingJob job) {
    return job.getMetadata().getName() + "-" + job.getMetadata().getUid();
  }

  private Optional<String> claim(ProfileSpec profile) {
    var checkpoints = profile.checkpoints();
    return checkpoints == null
        ? config.agent().checkpointClaim()
        : Optional.ofNullable(checkpoints.claim());
  }

  private Optional<String> hostPath(ProfileSpec profile) {
    var checkpoints = profile.checkpoints();
    return checkpoints == null
        ? config.agent().checkpointHostPath()
        : Optional.ofNullable(checkpoints.hostPath());
  }
}
