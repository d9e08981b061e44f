package dev.kastor.operator.kube;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import dev.kastor.operator.config.OperatorConfig;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.quarkus.kubernetes.client.KubernetesClientObjectMapperCustomizer;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;

/**
 * Leaves out who manages which field of an object. Nothing here asks for it, and it is most of what
 * a cached job would take: one map for each field of its status. An update that does not name
 * managers leaves them as they are. What is left of a job is read once: {@link SharedJobs}; its
 * parts take what they need: {@link LeanParts}; what its template says of slots stands in its spec:
 * {@link TemplateSlots}.
 */
@Singleton
final class LeanObjects implements KubernetesClientObjectMapperCustomizer {
  private final String slotResource;

  @Inject
  LeanObjects(OperatorConfig config) {
    this(config.slotResource());
  }

  LeanObjects(String slotResource) {
    this.slotResource = slotResource;
  }

  @Override
  public void customize(ObjectMapper mapper) {
    mapper.addMixIn(ObjectMeta.class, WithoutManagers.class);
    mapper.registerModule(
        new SimpleModule("kastor-shared-jobs")
            .setDeserializerModifier(new SharedJobs(slotResource)));
    mapper.registerModule(
        new SimpleModule("kastor-lean-parts").setDeserializerModifier(new LeanParts()));
  }

  @JsonIgnoreProperties("managedFields")
  private interface WithoutManagers {}
}
