package dev.kastor.operator.pods;

import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.kube.Labels;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Makes pods of a job's template: what the user wrote stays, but for what the operator decides. */
final class UserTemplate {
  /** Path of templates in a job. */
  static final String AT = "spec.template.";

  /** What names of resources that are GPUs, or parts of GPUs, begin with. */
  private static final List<String> GPUS =
      List.of("nvidia.com/gpu", "nvidia.com/mig-", "amd.com/gpu", "gpu.intel.com/");

  private static final BigDecimal MOST = BigDecimal.valueOf(Integer.MAX_VALUE);
  private static final ObjectMapper JSON = new ObjectMapper();

  private final String slotResource;

  UserTemplate(String slotResource) {
    this.slotResource = slotResource;
  }

  /**
   * A pod with the slots of a replica that is never restarted.
   *
   * @param number its number within the job
   * @throws InvalidTemplate if the template is not one of pods or asks for what the operator
   *     decides
   */
  Pod pod(TrainingJob job, long number) throws InvalidTemplate {
    PodTemplateSpec template = read(Objects.requireNonNull(job.getSpec().template()));
    PodSpec spec = template.getSpec();
    check(spec);
    spec.setRestartPolicy("Never");
    slots(spec.getContainers(), job.getSpec().slotsPerReplica());
    return new PodBuilder()
        .withMetadata(metadata(job, template.getMetadata(), number))
        .withSpec(spec)
        .build();
  }

  private static ObjectMeta metadata(TrainingJob job, @Nullable ObjectMeta given, long number) {
    String name = job.getMetadata().getName();
    Map<String, String> labels = PodProfile.foreign(given == null ? null : given.getLabels());
    labels.putAll(Labels.of(name));
    ObjectMeta metadata = new ObjectMeta();
    metadata.setName(name + "-" + number);
    metadata.setNamespace(job.getMetadata().getNamespace());
    metadata.setLabels(labels);
    metadata.setAnnotations(PodProfile.foreign(given == null ? null : given.getAnnotations()));
    metadata.setOwnerReferences(List.of(PodTemplate.owner(job)));
    return metadata;
  }

  /** What the operator decides itself cannot be in a template. */
  private void check(PodSpec spec) throws InvalidTemplate {
    refuse("spec.restartPolicy", spec.getRestartPolicy(), "Never");
    refuse("spec.nodeName", spec.getNodeName(), null);
    refuse("spec.hostname", spec.getHostname(), null);
    refuse("spec.subdomain", spec.getSubdomain(), null);
    if (Boolean.TRUE.equals(spec.getHostNetwork())) {
      throw new InvalidTemplate(
          AT + "spec.hostNetwork: true: replicas need addresses of their own. Leave it out.");
    }
    for (int i = 0; i < spec.getContainers().size(); i++) {
      refuseOtherGpus("containers[%d]".formatted(i), spec.getContainers().get(i));
    }
    for (int i = 0; i < spec.getInitContainers().size(); i++) {
      refuseOtherGpus("initContainers[%d]".formatted(i), spec.getInitContainers().get(i));
      if (slots(spec.getInitContainers().get(i)) != 0) {
        throw new InvalidTemplate(
            "%sspec.initContainers[%d].resources.limits[%s]: only containers may have slots."
                .formatted(AT, i, slotResource));
      }
    }
  }

  /**
   * The scheduler counts no GPUs but slots: a pod that asks for others would hold a slot as well,
   * and wait for what nobody keeps free. Slots that are no GPUs are those of local mode, where
   * templates run as they were written for a cluster.
   */
  private void refuseOtherGpus(String container, Container of) throws InvalidTemplate {
    ResourceRequirements resources = of.getResources();
    if (resources == null || !isGpu(slotResource)) {
      return;
    }
    Set<String> names = new TreeSet<>(orEmpty(resources.getLimits()).keySet());
    names.addAll(orEmpty(resources.getRequests()).keySet());
    for (String name : names) {
      if (!name.equals(slotResource) && isGpu(name)) {
        throw new InvalidTemplate(
            "%sspec.%s.resources.limits[%s]: GPUs of this cluster are given as %s, one a slot. Ask for that with spec.elastic.slotsPerReplica, and leave this out."
                .formatted(AT, container, name, slotResource));
      }
    }
  }

  private static boolean isGpu(String resource) {
    return GPUS.stream().anyMatch(resource::startsWith);
  }

  private static void refuse(String field, @Nullable String value, @Nullable String allowed)
      throws InvalidTemplate {
    if (value != null && !value.equals(allowed)) {
      throw new InvalidTemplate(
          "%s%s: %s: the operator sets this%s. Leave it out."
              .formatted(AT, field, value, allowed == null ? "" : " to " + allowed));
    }
  }

  /**
   * A pod takes the slots of a replica, the first container's unless some say that they have them.
   */
  private void slots(List<Container> containers, int slotsPerReplica) throws InvalidTemplate {
    int sum = 0;
    int first = -1;
    for (int i = 0; i < containers.size(); i++) {
      int slots = slots(containers.get(i));
      first = first < 0 && slots > 0 ? i : first;
      sum = Math.clamp((long) sum + slots, 0, Integer.MAX_VALUE);
    }
    if (first >= 0 && sum != slotsPerReplica) {
      throw new InvalidTemplate(
          "%sspec.containers[%d].resources.limits[%s]: the containers ask for %d slots together, but spec.elastic.slotsPerReplica is %d. Make both the same, or leave one of them out."
              .formatted(AT, first, slotResource, sum, slotsPerReplica));
    }
    if (first < 0) {
      Container container = containers.getFirst();
      ResourceRequirements resources = container.getResources();
      if (resources == null) {
        resources = new ResourceRequirements();
        container.setResources(resources);
      }
      Map<String, Quantity> limits = new TreeMap<>(orEmpty(resources.getLimits()));
      limits.put(slotResource, new Quantity(Integer.toString(slotsPerReplica)));
      resources.setLimits(limits);
    }
  }

  private int slots(Container container) {
    ResourceRequirements resources = container.getResources();
    int most = 0;
    if (resources != null) {
      for (var amounts :
          List.of(orEmpty(resources.getLimits()), orEmpty(resources.getRequests()))) {
        Quantity slots = amounts.get(slotResource);
        BigDecimal amount = slots == null ? BigDecimal.ZERO : slots.getNumericalAmount();
        most = Math.max(most, amount.min(MOST).intValue());
      }
    }
    return most;
  }

  private static PodTemplateSpec read(Map<String, Object> template) throws InvalidTemplate {
    try {
      PodTemplateSpec read = JSON.convertValue(template, PodTemplateSpec.class);
      if (read.getSpec() == null || read.getSpec().getContainers().isEmpty()) {
        throw new InvalidTemplate(AT + "spec.containers: Required value");
      }
      return read;
    } catch (IllegalArgumentException e) {
      throw new InvalidTemplate(
          e.getCause() instanceof JsonMappingException cause
              ? AT + path(cause) + ": " + cause.getOriginalMessage()
              : AT + "spec: " + e.getMessage());
    }
  }

  private static String path(JsonMappingException e) {
    return e.getPath().stream()
        .map(part ->
            part.getFieldName() == null ? "[" + part.getIndex() + "]" : "." + part.getFieldName())
        .collect(Collectors.joining())
        .substring(1);
  }

  private static <V> Map<String, V> orEmpty(@Nullable Map<String, V> map) {
    return map == null ? Map.of() : map;
  }
}
