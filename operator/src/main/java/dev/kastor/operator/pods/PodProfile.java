package dev.kastor.operator.pods;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.crds.profile.ProfileSpec;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.LocalObjectReference;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.api.model.Toleration;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeMount;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Adds what a profile says to a pod; whatever the pod says itself comes first. */
final class PodProfile {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Labels and annotations of ours mean something to the operator. */
  private static final String OURS = "kastor.dev/";

  private PodProfile() {}

  /** Changes the pod. */
  static void apply(ProfileSpec profile, Pod pod) {
    PodSpec spec = pod.getSpec();
    ObjectMeta metadata = pod.getMetadata();
    metadata.setLabels(with(metadata.getLabels(), foreign(profile.podLabels())));
    metadata.setAnnotations(with(metadata.getAnnotations(), foreign(profile.podAnnotations())));
    spec.setNodeSelector(with(spec.getNodeSelector(), profile.nodeSelector()));
    List<Toleration> tolerations = new ArrayList<>(spec.getTolerations());
    tolerations.addAll(orEmpty(profile.tolerations()));
    spec.setTolerations(tolerations);
    if (spec.getRuntimeClassName() == null) {
      spec.setRuntimeClassName(profile.runtimeClassName());
    }
    spec.setImagePullSecrets(
        with(
            spec.getImagePullSecrets(),
            orEmpty(profile.imagePullSecrets()),
            LocalObjectReference::getName));
    spec.setVolumes(
        with(spec.getVolumes(), read(profile.volumes(), Volume.class), Volume::getName));
    List<Container> all = new ArrayList<>(spec.getContainers());
    all.addAll(spec.getInitContainers());
    for (Container container : all) {
      container.setEnv(with(container.getEnv(), orEmpty(profile.env()), EnvVar::getName));
      container.setVolumeMounts(
          with(
              container.getVolumeMounts(),
              read(profile.volumeMounts(), VolumeMount.class),
              VolumeMount::getMountPath));
    }
    resources(profile.resources(), spec.getContainers().getFirst());
  }

  /** Adds variables that the list does not have yet. */
  static void addMissing(List<EnvVar> env, List<EnvVar> more) {
    List<EnvVar> all = with(env, more, EnvVar::getName);
    env.clear();
    env.addAll(all);
  }

  /** Gives a container these resources, as far as it says nothing of them itself. */
  static void resources(ProfileSpec.@Nullable Resources wanted, Container container) {
    if (wanted == null) {
      return;
    }
    ResourceRequirements resources =
        container.getResources() == null ? new ResourceRequirements() : container.getResources();
    Map<String, Quantity> amounts = new TreeMap<>();
    if (wanted.cpu() != null) {
      amounts.put("cpu", wanted.cpu());
    }
    if (wanted.memory() != null) {
      amounts.put("memory", wanted.memory());
    }
    // A container that says anything about one of them says all about it.
    amounts
        .keySet()
        .removeIf(name -> has(resources.getLimits(), name) || has(resources.getRequests(), name));
    resources.setLimits(with(resources.getLimits(), amounts));
    resources.setRequests(with(resources.getRequests(), amounts));
    container.setResources(resources);
  }

  private static boolean has(@Nullable Map<String, Quantity> map, String key) {
    return map != null && map.containsKey(key);
  }

  /** Those of them that mean nothing to the operator. */
  static Map<String, String> foreign(@Nullable Map<String, String> map) {
    Map<String, String> kept = new TreeMap<>();
    if (map != null) {
      kept.putAll(map);
      kept.keySet().removeIf(key -> key.startsWith(OURS));
    }
    return kept;
  }

  private static <V> Map<String, V> with(
      @Nullable Map<String, V> own, @Nullable Map<String, V> more) {
    Map<String, V> all = new TreeMap<>();
    if (more != null) {
      all.putAll(more);
    }
    if (own != null) {
      all.putAll(own);
    }
    return all;
  }

  private static <T> List<T> with(List<T> own, List<T> more, Function<T, String> key) {
    List<T> all = new ArrayList<>(own);
    Set<String> names = new HashSet<>(own.stream().map(key).toList());
    more.stream().filter(each -> !names.contains(key.apply(each))).forEach(all::add);
    return all;
  }

  private static <T> List<T> read(@Nullable List<Map<String, Object>> raw, Class<T> type) {
    return orEmpty(raw).stream().map(each -> JSON.convertValue(each, type)).toList();
  }

  private static <T> List<T> orEmpty(@Nullable List<T> list) {
    return list == null ? List.of() : list;
  }
}
