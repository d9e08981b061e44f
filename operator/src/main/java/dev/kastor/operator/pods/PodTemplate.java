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
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.EnvVarBuilder;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Builds the pod of one replica. */
public final class PodTemplate {
  static final String CONTAINER = "agent";
  static final String CA_KEY = "ca.crt";
  static final String RING_KEY = "secret";

  private static final String TOKEN_PATH = "/var/run/kastor/token";
  private static final String RING_PATH = "/etc/kastor/ring";
  private static final String CHECKPOINT_PATH = "/var/lib/kastor/checkpoints";
  private static final String TEMPORARY_PATH = "/tmp";
  private static final String TERMINATION_PATH = "/dev/termination-log";
  private static final long TOKEN_SECONDS = 3600;
  private static final long USER = 65532;
  private static final ObjectMapper JSON =
      JsonMapper.builder()
          .defaultPropertyInclusion(
              JsonInclude.Value.construct(JsonInclude.Include.NON_NULL, JsonInclude.Include.ALWAYS))
          .enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
          .build();

  private final OperatorConfig config;

  /** Builds pods as configured. */
  public PodTemplate(OperatorConfig config) {
    this.config = config;
  }

  /** Name of the Secret with what the rings of a job are keyed with and whom replicas trust. */
  public static String ringSecret(String job) {
    return job + "-ring";
  }

  /** The audience of tokens that are good for this job and nothing else. */
  public static String audience(String namespace, String job) {
    return "kastor/" + namespace + "/" + job;
  }

  /** Makes the job the controlling owner of what carries the reference. */
  public static OwnerReference owner(TrainingJob job) {
    return new OwnerReferenceBuilder()
        .withApiVersion(job.getApiVersion())
        .withKind(job.getKind())
        .withName(job.getMetadata().getName())
        .withUid(job.getMetadata().getUid())
        .withController(true)
        .withBlockOwnerDeletion(true)
        .build();
  }

  /** The pod with this number, on this node, as a profile completes it. */
  public Pod pod(TrainingJob job, ProfileSpec profile, long number, PodNode node) {
    Pod pod = pod(job, profile, number);
    PodProfile.apply(profile, pod);
    node.choose(pod);
    return pod;
  }

  private Pod pod(TrainingJob job, ProfileSpec profile, long number) {
    String name = job.getMetadata().getName();
    OperatorConfig.Agent agent = config.agent();
    return new PodBuilder()
        .withNewMetadata()
        .withName(name + "-" + number)
        .withNamespace(job.getMetadata().getNamespace())
        .withLabels(Labels.of(name))
        .withAnnotations(Map.of())
        .withOwnerReferences(owner(job))
        .endMetadata()
        .withNewSpec()
        .withRestartPolicy("Never")
        .withServiceAccountName(or(profile.serviceAccountName(), agent.serviceAccount()))
        .withAutomountServiceAccountToken(false)
        .withEnableServiceLinks(false)
        .withTerminationGracePeriodSeconds(config.agent().terminationGrace().toSeconds())
        .withNewSecurityContext()
        .withRunAsNonRoot(true)
        .withRunAsUser(USER)
        .withRunAsGroup(USER)
        .withFsGroup(USER)
        .withNewSeccompProfile()
        .withType("RuntimeDefault")
        .endSeccompProfile()
        .endSecurityContext()
        .addNewContainer()
        .withName(CONTAINER)
        .withImage(or(profile.image(), agent.image()))
        .withImagePullPolicy("IfNotPresent")
        .withTerminationMessagePath(TERMINATION_PATH)
        .withTerminationMessagePolicy("File")
        .withEnv(env(job))
        .withNewResources()
        .withLimits(Map.of(config.slotResource(), new Quantity("1")))
        .endResources()
        .withNewSecurityContext()
        .withAllowPrivilegeEscalation(false)
        .withReadOnlyRootFilesystem(true)
        .withNewCapabilities()
        .withDrop("ALL")
        .endCapabilities()
        .endSecurityContext()
        .withVolumeMounts(mounts(job, profile))
        .endContainer()
        .withVolumes(volumes(job, profile))
        .endSpec()
        .build();
  }

  private List<EnvVar> env(TrainingJob job) {
    return List.of(
        value("KASTOR_NAMESPACE", job.getMetadata().getNamespace()),
        value("KASTOR_JOB", job.getMetadata().getName()),
        value("KASTOR_JOB_UID", job.getMetadata().getUid()),
        field("KASTOR_POD", "metadata.name"),
        field("KASTOR_NODE", "spec.nodeName"),
        field("KASTOR_POD_IP", "status.podIP"),
        value("KASTOR_OPERATOR_URL", config.agent().operatorUrl()),
        value("KASTOR_TOKEN_FILE", TOKEN_PATH + "/token"),
        value("KASTOR_CA_FILE", RING_PATH + "/" + CA_KEY),
        value("KASTOR_RING_SECRET_FILE", RING_PATH + "/" + RING_KEY),
        value("KASTOR_RING_ENCRYPTION", config.agent().ringEncryption().setting()),
        value("KASTOR_CHECKPOINT_DIR", CHECKPOINT_PATH),
        value("KASTOR_JOB_SPEC", spec(job)),
        value("KASTOR_TERMINATION_LOG", TERMINATION_PATH),
        value(
            "KASTOR_TERMINATION_GRACE_SECONDS",
            Long.toString(config.agent().terminationGrace().toSeconds())),
        value("KASTOR_THREADS", Integer.toString(config.agent().threads())));
  }

  private List<VolumeMount> mounts(TrainingJob job, ProfileSpec profile) {
    var meta = job.getMetadata();
    VolumeMount checkpoints = mount("checkpoints", CHECKPOINT_PATH, false);
    if (claim(profile).isPresent()) {
      // Jobs of a namespace share the claim, so each gets a folder of its own.
      checkpoints.setSubPath(meta.getName() + "-" + meta.getUid());
    }
    return List.of(
        mount("token", TOKEN_PATH, true),
        mount("ring", RING_PATH, true),
        mount("temporary", TEMPORARY_PATH, false),
        checkpoints);
  }

  private List<Volume> volumes(TrainingJob job, ProfileSpec profile) {
    String namespace = job.getMetadata().getNamespace();
    String name = job.getMetadata().getName();
    Volume token =
        new VolumeBuilder()
            .withName("token")
            .withNewProjected()
            .addNewSource()
            .withNewServiceAccountToken()
            .withAudience(audience(namespace, name))
            .withExpirationSeconds(TOKEN_SECONDS)
            .withPath("token")
            .endServiceAccountToken()
            .endSource()
            .endProjected()
            .build();
    Volume ring =
        new VolumeBuilder()
            .withName("ring")
            .withNewSecret()
            .withSecretName(ringSecret(name))
            .endSecret()
            .build();
    Volume temporary =
        new VolumeBuilder().withName("temporary").withNewEmptyDir().endEmptyDir().build();
    return List.of(token, ring, temporary, checkpoints(job, profile));
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

  private static String or(@Nullable String value, String otherwise) {
    return value == null ? otherwise : value;
  }

  private Volume checkpoints(TrainingJob job, ProfileSpec profile) {
    var volume = new VolumeBuilder().withName("checkpoints");
    if (claim(profile).isPresent()) {
      return volume
          .withNewPersistentVolumeClaim()
          .withClaimName(claim(profile).get())
          .endPersistentVolumeClaim()
          .build();
    }
    if (hostPath(profile).isPresent()) {
      var meta = job.getMetadata();
      return volume
          .withNewHostPath()
          .withPath(
              "%s/%s/%s-%s"
                  .formatted(
                      hostPath(profile).get(), meta.getNamespace(), meta.getName(), meta.getUid()))
          .withType("DirectoryOrCreate")
          .endHostPath()
          .build();
    }
    // Nothing is shared: a restart of the whole job then starts over, live changes do not.
    return volume.withNewEmptyDir().endEmptyDir().build();
  }

  private static String spec(TrainingJob job) {
    try {
      return JSON.writeValueAsString(SpecDefaults.complete(job.getSpec()));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a spec made of records can always be written", e);
    }
  }

  /** A variable of exactly this value: Kubernetes makes one {@code $} of two, and expands none. */
  private static EnvVar value(String name, String value) {
    return new EnvVarBuilder().withName(name).withValue(value.replace("$", "$$")).build();
  }

  private static EnvVar field(String name, String path) {
    return new EnvVarBuilder()
        .withName(name)
        .withNewValueFrom()
        .withNewFieldRef()
        .withFieldPath(path)
        .endFieldRef()
        .endValueFrom()
        .build();
  }

  private static VolumeMount mount(String name, String path, boolean readOnly) {
    return new VolumeMountBuilder()
        .withName(name)
        .withMountPath(path)
        .withReadOnly(readOnly ? true : null)
        .build();
  }
}
