package dev.kastor.local.api;

import static dev.kastor.local.api.LocalApi.widget;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.FieldValidateable.Validation;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class CustomResourceTest {
  @TempDir Path logs;
  private LocalApi api;

  @BeforeEach
  void start() {
    api = new LocalApi(logs);
  }

  @AfterEach
  void stop() {
    api.close();
  }

  private GenericKubernetesResource create(String name, String spec) {
    return api.widgets().inNamespace("default").resource(widget(name, spec)).create();
  }

  @Tag("slow")
  @Test
  void fillsDefaultsFromOutsideIn() {
    GenericKubernetesResource created = create("w", "{\"program\": \"mlp\"}");
    Integer max = created.get("spec", "elastic", "max");
    String mode = created.get("spec", "mode");
    assertThat(max).isEqualTo(4);
    assertThat(mode).isEqualTo("Adaptive");
    assertThat(created.getMetadata().getGeneration()).isEqualTo(1);
    assertThat(created.getMetadata().getUid()).isNotEmpty();
  }

  @Test
  void namesTheFieldThatIsOutOfRange() {
    assertThatThrownBy(() -> create("w", "{\"program\": \"mlp\", \"elastic\": {\"max\": 5000}}"))
        .isInstanceOfSatisfying(
            KubernetesClientException.class, e -> assertThat(e.getCode()).isEqualTo(422))
        .hasMessageContaining(
            "Widget.test.kastor.dev \"w\" is invalid: spec.elastic.max: Invalid value: 5000:"
                + " spec.elastic.max in body should be less than or equal to 64");
  }

  @Test
  void namesEveryFieldThatIsMissingOrOfTheWrongKind() {
    assertThatThrownBy(() -> create("w", "{\"mode\": \"Wild\", \"elastic\": {\"min\": \"two\"}}"))
        .hasMessageContaining("spec.program: Required value")
        .hasMessageContaining(
            "spec.mode: Unsupported value: \"Wild\": supported values: \"Adaptive\", \"Fixed\"")
        .hasMessageContaining(
            "spec.elastic.min: Invalid value: \"two\": spec.elastic.min in body must be of type"
                + " integer");
    assertThatThrownBy(() -> create("w", "{\"program\": \"M L P\"}"))
        .hasMessageContaining("spec.program in body should match '^[a-z]+$'");
  }

  @Test
  void relaysTheMessageOfACelRule() {
    assertThatThrownBy(
            () -> create("w", "{\"program\": \"mlp\", \"elastic\": {\"min\": 3, \"max\": 2}}"))
        .hasMessageContaining("spec.elastic: Invalid value: \"object\": min (3) is above max (2)");
  }

  @Tag("slow")
  @Test
  void checksTransitionRulesOnUpdateOnly() {
    create("w", "{\"program\": \"mlp\"}");
    var resource = api.widgets().inNamespace("default").withName("w");
    assertThatThrownBy(() ->
            resource.patch(
                PatchContext.of(PatchType.JSON_MERGE), "{\"spec\": {\"program\": \"cnn\"}}"))
        .hasMessageContaining("spec: Invalid value: \"object\": program cannot change");
  }

  @Test
  void refusesUnknownFieldsOnlyWhenStrict() {
    GenericKubernetesResource typo = widget("w", "{\"program\": \"mlp\", \"elastik\": {}}");
    assertThatThrownBy(() ->
            api.widgets()
                .inNamespace("default")
                .resource(typo)
                .fieldValidation(Validation.STRICT)
                .create())
        .isInstanceOfSatisfying(
            KubernetesClientException.class, e -> assertThat(e.getCode()).isEqualTo(400))
        .hasMessageContaining("strict decoding error: unknown field \"spec.elastik\"");
    GenericKubernetesResource pruned = api.widgets().inNamespace("default").resource(typo).create();
    Object gone = pruned.get("spec", "elastik");
    assertThat(gone).isNull();
  }

  @Tag("slow")
  @Test
  void keepsStatusAndSpecApartAndCountsGenerations() {
    create("w", "{\"program\": \"mlp\"}");
    var resource = api.widgets().inNamespace("default").withName("w");
    PatchContext merge = PatchContext.of(PatchType.JSON_MERGE);
    resource.patch(merge, "{\"status\": {\"phase\": \"Ignored\"}}");
    Object ignored = resource.get().get("status", "phase");
    assertThat(ignored).isNull();
    resource
        .subresource("status")
        .patch(merge, "{\"spec\": {\"mode\": \"Fixed\"}, \"status\": {\"phase\": \"Running\"}}");
    String phase = resource.get().get("status", "phase");
    String mode = resource.get().get("spec", "mode");
    assertThat(phase).isEqualTo("Running");
    assertThat(mode).isEqualTo("Adaptive");
    assertThat(resource.get().getMetadata().getGeneration()).isEqualTo(1);
    resource.patch(merge, "{\"spec\": {\"mode\": \"Fixed\"}}");
    assertThat(resource.get().getMetadata().getGeneration()).isEqualTo(2);
  }

  @Test
  void doesNotMakeARevisionOutOfAWriteThatChangesNothing() {
    GenericKubernetesResource created = create("w", "{\"program\": \"mlp\"}");
    GenericKubernetesResource same =
        api.widgets()
            .inNamespace("default")
            .withName("w")
            .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\": {\"program\": \"mlp\"}}");
    assertThat(same.getMetadata().getResourceVersion())
        .isEqualTo(created.getMetadata().getResourceVersion());
  }

  @Tag("slow")
  @Test
  void appliesAndRemovesWhatAManagerLeavesOut() {
    create("w", "{\"program\": \"mlp\"}");
    apply("loop", "{\"nodes\": {\"a\": 1, \"b\": 2}}");
    apply("reconciler", "{\"phase\": \"Running\"}");
    apply("loop", "{\"nodes\": {\"b\": 3}}");
    GenericKubernetesResource now = api.widgets().inNamespace("default").withName("w").get();
    Map<String, Integer> nodes = now.get("status", "nodes");
    String phase = now.get("status", "phase");
    assertThat(nodes).isEqualTo(Map.of("b", 3));
    assertThat(phase).isEqualTo("Running");
  }

  private void apply(String manager, String status) {
    PatchContext context =
        new PatchContext.Builder()
            .withPatchType(PatchType.SERVER_SIDE_APPLY)
            .withFieldManager(manager)
            .withForce(true)
            .build();
    api.widgets()
        .inNamespace("default")
        .withName("w")
        .subresource("status")
        .patch(
            context,
            "{\"apiVersion\": \"test.kastor.dev/v1\", \"kind\": \"Widget\", \"metadata\":"
                + " {\"name\": \"w\"}, \"status\": "
                + status
                + "}");
  }

  @Test
  void appliesAnObjectThatDoesNotExistYet() {
    GenericKubernetesResource applied =
        api.widgets()
            .inNamespace("default")
            .resource(widget("fresh", "{\"program\": \"mlp\"}"))
            .serverSideApply();
    assertThat(applied.getMetadata().getUid()).isNotEmpty();
  }
}
