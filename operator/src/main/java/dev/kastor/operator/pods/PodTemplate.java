package dev.kastor.operator.pods;

import dev.kastor.crds.profile.ProfileSpec;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.kube.OwnContainers;
import dev.kastor.operator.kube.PodName;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.LocalObjectReference;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeMount;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Builds the pod of one replica, of a program or of the job's template, or of one parameter server,
 * which is a replica of a program without slots that may be on any node.
 */
public final class PodTemplate {
  static final String CONTAINER = "agent";
  private static final String TEMPORARY = "kastor-temporary";
  private static final String TEMPORARY_PATH = "/tmp";
  private static final long USER = 65532;

  private final OperatorConfig config;
  private final AgentParts parts;
  private final WarmStartParts warmStart;
  private final UserTemplate user;
  private final ProfileSpec.Resources usual;

  /** Builds pods as configured. */
  public PodTemplate(OperatorConfig config) {
    this.config = config;
    usual =
        new ProfileSpec.Resources(
            config.agent().cpu().map(Quantity::parse).orElse(null),
            config.agent().memory().map(Quantity::parse).orElse(null));
    parts = new AgentParts(config);
    warmStart = new WarmStartParts(config);
    user = new UserTemplate(config.slotResource());
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

  /**
   * The pod with this number, on this node, as a profile completes it.
   *
   * @param other whose parameters the job begins with; empty if there is no such job, or none is
   *     named
   * @throws InvalidTemplate if no pod can be made of the job's template
   */
  public Pod pod(
      TrainingJob job,
      ProfileSpec profile,
      Optional<WarmStartSource> other,
      long number,
      PodNode node)
      throws InvalidTemplate {
    Pod pod =
        job.getSpec().template() == null
            ? ofProgram(job, profile, number)
            : ofTemplate(job, profile, number);
    addWarmStart(job, other, pod.getSpec());
    PodProfile.apply(profile, pod);
    if (job.getSpec().template() == null) {
      PodProfile.resources(usual, pod.getSpec().getContainers().getFirst());
    }
    node.choose(pod);
    OwnContainers.mark(pod);
    return pod;
  }

  /**
   * The pod of a parameter server.
   *
   * @param index which shard it has
   * @param avoided nodes that it must not be put on, which kube-scheduler may not know of yet
   */
  public Pod server(
      TrainingJob job,
      ProfileSpec profile,
      Optional<WarmStartSource> other,
      long number,
      int index,
      List<PodNode> avoided) {
    String name = job.getMetadata().getName();
    Pod pod =
        ofProgram(
            job,
            profile,
            PodName.server(name, number, index),
            Labels.ofServer(name, index),
            parts.serverEnv(job, config.agent().terminationGrace().toSeconds(), index),
            Map.of());
    addWarmStart(job, other, pod.getSpec());
    PodProfile.apply(profile, pod);
    PodProfile.resources(usual, pod.getSpec().getContainers().getFirst());
    PodNode.avoid(avoided, pod);
    OwnContainers.mark(pod);
    return pod;
  }

  /** The same without the checkpoints of another job. */
  Pod pod(TrainingJob job, ProfileSpec profile, long number, PodNode node) throws InvalidTemplate {
    return pod(job, profile, Optional.empty(), number, node);
  }

  private void addWarmStart(TrainingJob job, Optional<WarmStartSource> other, PodSpec spec) {
    Container container = spec.getContainers().getFirst();
    // Ours come first: what a template says of another folder does not count.
    List<EnvVar> env = new ArrayList<>(warmStart.env(job, other));
    PodProfile.addMissing(env, container.getEnv());
    container.setEnv(env);
    List<VolumeMount> mounts = new ArrayList<>(container.getVolumeMounts());
    mounts.addAll(warmStart.mounts(job, other));
    container.setVolumeMounts(mounts);
    List<Volume> volumes = new ArrayList<>(spec.getVolumes());
    volumes.addAll(warmStart.volumes(job, other));
    spec.setVolumes(volumes);
  }

  private Pod ofTemplate(TrainingJob job, ProfileSpec profile, long number) throws InvalidTemplate {
    Pod pod = user.pod(job, number);
    PodSpec spec = pod.getSpec();
    if (spec.getContainers().size() > 1) {
      throw new InvalidTemplate(
          UserTemplate.AT
              + "spec.containers[1]: a replica that is resized has one container. Make it one of"
              + " initContainers, with restartPolicy: Always if it is to run beside the first.");
    }
    if (spec.getTerminationGracePeriodSeconds() == null) {
      spec.setTerminationGracePeriodSeconds(config.agent().terminationGrace().toSeconds());
    }
    Container container = spec.getContainers().getFirst();
    container.setTerminationMessagePath(AgentParts.TERMINATION_PATH);
    container.setTerminationMessagePolicy("File");
    // Ours come first: a replica with another's name or operator could not take part.
    List<EnvVar> env = new ArrayList<>(parts.env(job, spec.getTerminationGracePeriodSeconds()));
    PodProfile.addMissing(env, container.getEnv());
    container.setEnv(env);
    container.getVolumeMounts().addAll(parts.mounts(job, profile));
    spec.getVolumes().addAll(parts.volumes(job, profile));
    return pod;
  }

  private Pod ofProgram(TrainingJob job, ProfileSpec profile, long number) {
    String name = job.getMetadata().getName();
    return ofProgram(
        job,
        profile,
        PodName.replica(name, number),
        Labels.of(name),
        parts.env(job, config.agent().terminationGrace().toSeconds()),
        Map.of(
            config.slotResource(),
            new Quantity(Integer.toString(job.getSpec().slotsPerReplica()))));
  }

  private Pod ofProgram(
      TrainingJob job,
      ProfileSpec profile,
      PodName name,
      Map<String, String> labels,
      List<EnvVar> env,
      Map<String, Quantity> limits) {
    OperatorConfig.Agent agent = config.agent();
    return new PodBuilder()
        .withNewMetadata()
        .withName(name.text())
        .withNamespace(job.getMetadata().getNamespace())
        .withLabels(labels)
        .withAnnotations(Map.of())
        .withOwnerReferences(owner(job))
        .endMetadata()
        .withNewSpec()
        .withRestartPolicy("Never")
        .withServiceAccountName(or(profile.serviceAccountName(), agent.serviceAccount()))
        .withAutomountServiceAccountToken(false)
        .withEnableServiceLinks(false)
        .withTerminationGracePeriodSeconds(agent.terminationGrace().toSeconds())
        .withImagePullSecrets(
            agent.imagePullSecrets().orElse(List.of()).stream()
                .map(LocalObjectReference::new)
                .toList())
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
        .withTerminationMessagePath(AgentParts.TERMINATION_PATH)
        .withTerminationMessagePolicy("File")
        .withEnv(env)
        .withNewResources()
        .withLimits(limits)
        .endResources()
        .withNewSecurityContext()
        .withAllowPrivilegeEscalation(false)
        .withReadOnlyRootFilesystem(true)
        .withNewCapabilities()
        .withDrop("ALL")
        .endCapabilities()
        .endSecurityContext()
        .withVolumeMounts(parts.mounts(job, profile))
        .addNewVolumeMount()
        .withName(TEMPORARY)
        .withMountPath(TEMPORARY_PATH)
        .endVolumeMount()
        .endContainer()
        .withVolumes(parts.volumes(job, profile))
        .addNewVolume()
        .withName(TEMPORARY)
        .withNewEmptyDir()
        .endEmptyDir()
        .endVolume()
        .endSpec()
        .build();
  }

  private static String or(@Nullable String value, String otherwise) {
    return value == null ? otherwise : value;
  }
}
