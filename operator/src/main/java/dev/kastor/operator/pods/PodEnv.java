package dev.kastor.operator.pods;

import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.EnvVarBuilder;

/** Variables of containers. */
final class PodEnv {
  private PodEnv() {}

  /** A variable of exactly this value: Kubernetes makes one {@code $} of two, and expands none. */
  static EnvVar value(String name, String value) {
    return new EnvVarBuilder().withName(name).withValue(value.replace("$", "$$")).build();
  }

  /** A variable with the value of a field of the pod. */
  static EnvVar field(String name, String path) {
    return new EnvVarBuilder()
        .withName(name)
        .withNewValueFrom()
        .withNewFieldRef()
        .withFieldPath(path)
        .endFieldRef()
        .endValueFrom()
        .build();
  }
}
