package dev.kastor.operator.kube;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.quarkus.kubernetes.client.KubernetesClientObjectMapperCustomizer;
import jakarta.inject.Singleton;

/**
 * Leaves out who manages which field of an object. Nothing here asks for it, and it is most of what
 * a cached job would take: one map for each field of its status. An update that does not name
 * managers leaves them as they are. What is left of a job is read once: {@link SharedJobs}; its
 * parts take what they need: {@link LeanParts}.
 */
@Singleton
final class LeanObjects implements KubernetesClientObjectMapperCustomizer {
  @Override
  public void customize(ObjectMapper mapper) {
    mapper.addMixIn(ObjectMeta.class, WithoutManagers.class);
    mapper.registerModule(
        new SimpleModule("kastor-shared-jobs").setDeserializerModifier(new SharedJobs()));
    mapper.registerModule(
        new SimpleModule("kastor-lean-parts").setDeserializerModifier(new LeanParts()));
  }

  @JsonIgnoreProperties("managedFields")
  private interface WithoutManagers {}
}
