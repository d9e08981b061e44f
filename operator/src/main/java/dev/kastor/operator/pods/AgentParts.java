package dev.kastor.operator.pods;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.kastor.crds.profile.ProfileSpec;
import dev.kastor.crds.trainingjob.SpecDefaults;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.kube.Labels;
import dev.kastor.protocol.Membership;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.ServiceAccountTokenProjection;
import io.fabric8.kubernetes.api.model.ServiceAccountTokenProjectionBuilder;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import java.util.ArrayList;
import java.util.List;

/**
 * Variables and volumes of a replica's container that its agent needs: who it is, whom it may
 * trust, and where its checkpoints are.
 */
final class AgentParts {
  static final String CA_KEY = "ca.crt";
  static final String RING_KEY = "secret";

  /** Where an agent writes its last words. */
  static final String TERMINATION_PATH = "/dev/termination-log";

  /** The highest version of the agent's protocol that this operator speaks. */
  private static final int PROTOCOL = Membership.PROTOCOL;

  private static final String TOKEN_PATH = "/var/run/kastor/token";
  private static final String RING_PATH = "/etc/kastor/ring";
  private static final String CHECKPOINT_PATH = "/var/lib/kastor/checkpoints";
  private static final long TOKEN_SECONDS = 3600;

  private static final String TOKEN = "kastor-token";
  private static final String RING = "kastor-ring";
  private static final String CHECKPOINTS = "kastor-checkpoints";

  private static final ObjectMapper JSON =
      JsonMapper.builder()
          .defaultPropertyInclusion(
              JsonInclude.Value.construct(JsonInclude.Include.NON_NULL, JsonInclude.Include.ALWAYS))
          .enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
          .build();

  private final OperatorConfig config;
  private final CheckpointStorage storage;

  AgentParts(OperatorConfig config) {
    this.config = config;
    storage = new CheckpointStorage(config);
  }

  /**
   * The variables.
   *
   * @param graceSeconds what the pod has between the signal to end and its end
   */
  List<EnvVar> env(TrainingJob job, long graceSeconds) {
    return env(job, graceSeconds, job.getSpec().slotsPerReplica());
  }

  /** The variables of the server with an index: those of a replica without slots, and its role. */
  List<EnvVar> serverEnv(TrainingJob job, long graceSeconds, int index) {
    List<EnvVar> env = new ArrayList<>(env(job, graceSeconds, 0));
    env.add(PodEnv.value("KASTOR_ROLE", Labels.SERVER));
    env.add(PodEnv.value("KASTOR_SERVER_INDEX", Integer.toString(index)));
    return env;
  }

  private List<EnvVar> env(TrainingJob job, long graceSeconds, int slots) {
    return List.of(
        PodEnv.value("KASTOR_NAMESPACE", job.getMetadata().getNamespace()),
        PodEnv.value("KASTOR_JOB", job.getMetadata().getName()),
        PodEnv.value("KASTOR_JOB_UID", job.getMetadata().getUid()),
        PodEnv.field("KASTOR_POD", "metadata.name"),
        PodEnv.field("KASTOR_NODE", "spec.nodeName"),
        PodEnv.field("KASTOR_POD_IP", "status.podIP"),
        PodEnv.value("KASTOR_PROTOCOL", Integer.toString(PROTOCOL)),
        PodEnv.value("KASTOR_OPERATOR_URL", config.agent().operatorUrl()),
        PodEnv.value("KASTOR_TOKEN_FILE", TOKEN_PATH + "/token"),
        PodEnv.value("KASTOR_CA_FILE", RING_PATH + "/" + CA_KEY),
        PodEnv.value("KASTOR_RING_SECRET_FILE", RING_PATH + "/" + RING_KEY),
        PodEnv.value("KASTOR_RING_ENCRYPTION", config.agent().ringEncryption().setting()),
        PodEnv.value("KASTOR_CHECKPOINT_DIR", CHECKPOINT_PATH),
        PodEnv.value("KASTOR_JOB_SPEC", spec(job)),
        PodEnv.value("KASTOR_TERMINATION_LOG", TERMINATION_PATH),
        PodEnv.value("KASTOR_TERMINATION_GRACE_SECONDS", Long.toString(graceSeconds)),
        PodEnv.value("KASTOR_LOCAL_SLOTS", Integer.toString(slots)),
        PodEnv.value("KASTOR_THREADS", Integer.toString(config.agent().threads())));
  }

  List<VolumeMount> mounts(TrainingJob job, ProfileSpec profile) {
    return List.of(
        mount(TOKEN, TOKEN_PATH, true),
        mount(RING, RING_PATH, true),
        storage.mount(CHECKPOINTS, CHECKPOINT_PATH, false, job, profile));
  }

  List<Volume> volumes(TrainingJob job, ProfileSpec profile) {
    Volume token =
        new VolumeBuilder()
            .withName(TOKEN)
            .withNewProjected()
            .addNewSource()
            .withServiceAccountToken(token(job, "token"))
            .endSource()
            .endProjected()
            .build();
    Volume ring =
        new VolumeBuilder()
            .withName(RING)
            .withNewSecret()
            .withSecretName(JobObjects.secret(job))
            .endSecret()
            .build();
    return List.of(token, ring, storage.volume(CHECKPOINTS, job, profile));
  }

  /** The token with which a pod shows that it is one of the job. */
  static ServiceAccountTokenProjection token(TrainingJob job, String path) {
    return new ServiceAccountTokenProjectionBuilder()
        .withAudience(
            PodTemplate.audience(job.getMetadata().getNamespace(), job.getMetadata().getName()))
        .withExpirationSeconds(TOKEN_SECONDS)
        .withPath(path)
        .build();
  }

  private static String spec(TrainingJob job) {
    try {
      // A template is what the pod was made of, and may be long.
      return JSON.writeValueAsString(SpecDefaults.complete(job.getSpec()).withoutTemplate());
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a spec made of records can always be written", e);
    }
  }

  static VolumeMount mount(String name, String path, boolean readOnly) {
    return new VolumeMountBuilder()
        .withName(name)
        .withMountPath(path)
        .withReadOnly(readOnly ? true : null)
        .build();
  }
}
