package dev.kastor.operator.pods;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.config.OperatorConfig;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeMount;
import java.util.List;
import java.util.Optional;

/**
 * Variables and volume by which a replica reads the checkpoints of the job that its spec names for
 * a warm start, or else the reason why it cannot.
 *
 * <p>The folder is found by the name and uid of a job that there is in the namespace, so that no
 * name leads to another one, and it is mounted to be read only.
 */
final class WarmStartParts {
  private static final String NAME = "kastor-warm-start";
  private static final String PATH = "/var/lib/kastor/warm-start";

  private final CheckpointStorage storage;

  WarmStartParts(OperatorConfig config) {
    storage = new CheckpointStorage(config);
  }

  List<EnvVar> env(TrainingJob job, Optional<WarmStartSource> source) {
    if (job.getSpec().warmStart().isEmpty()) {
      return List.of();
    }
    Optional<String> problem = problem(job, source);
    if (source.isEmpty() || problem.isPresent()) {
      return List.of(PodEnv.value("KASTOR_WARM_START_PROBLEM", problem.orElse("")));
    }
    TrainingJob other = source.get().job();
    return List.of(
        PodEnv.value("KASTOR_WARM_START_DIR", PATH),
        PodEnv.value("KASTOR_WARM_START_UID", other.getMetadata().getUid()),
        PodEnv.value("KASTOR_WARM_START_RUNS", other.getSpec().runs()));
  }

  List<Volume> volumes(TrainingJob job, Optional<WarmStartSource> source) {
    return usable(job, source)
        .map(other -> storage.volume(NAME, other.job(), other.profile()))
        .stream()
        .toList();
  }

  List<VolumeMount> mounts(TrainingJob job, Optional<WarmStartSource> source) {
    return usable(job, source)
        .map(other -> storage.mount(NAME, PATH, true, other.job(), other.profile()))
        .stream()
        .toList();
  }

  private Optional<WarmStartSource> usable(TrainingJob job, Optional<WarmStartSource> source) {
    return job.getSpec().warmStart().isEmpty() || problem(job, source).isPresent()
        ? Optional.empty()
        : source;
  }

  /** Why the job cannot begin with the other's parameters; empty if it can as far as we know. */
  private Optional<String> problem(TrainingJob job, Optional<WarmStartSource> source) {
    if (source.isEmpty()) {
      return Optional.of(
          "there is no such TrainingJob in namespace " + job.getMetadata().getNamespace());
    }
    TrainingJob other = source.get().job();
    if (other.getMetadata().getUid().equals(job.getMetadata().getUid())) {
      return Optional.of("a job cannot begin with its own");
    }
    if (other.getSpec().gang()) {
      return Optional.of(
          "it is a gang, whose script writes checkpoints of its own. Give the script their path");
    }
    boolean program = job.getSpec().program() != null;
    if (program != (other.getSpec().program() != null)) {
      return Optional.of(
          "one of the two jobs runs a program of the engine (%s) and the other a template, and"
                  .formatted((program ? job : other).getSpec().runs())
              + " neither can read the other's checkpoints");
    }
    if (!storage.shared(source.get().profile())) {
      return Optional.of(
          "its checkpoints are in its pods alone. Set checkpoints.claim or checkpoints.hostPath of"
              + " the chart");
    }
    return Optional.empty();
  }
}
