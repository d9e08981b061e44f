package dev.kastor.crds.trainingjob;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class SpecDefaultsTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String CRD = "/META-INF/kastor/trainingjobs.kastor.dev-v1.yml";
  private static final String SMALLEST =
      """
      {"program": {"name": "glyph-mlp"},
       "goodput": {"batchSize": {"initial": 32}, "learningRate": {"base": "0.1"},
                   "work": {"epochs": 1}}}
      """;

  @Tag("slow")
  @Test
  void agreesWithTheDefaultsThatTheCrdDeclares() throws Exception {
    JsonNode schema;
    try (InputStream in = Objects.requireNonNull(SpecDefaultsTest.class.getResourceAsStream(CRD))) {
      schema =
          reparsed(Serialization.unmarshal(in, CustomResourceDefinition.class))
              .at("/spec/versions/0/schema/openAPIV3Schema/properties/spec");
    }
    ObjectNode expected = (ObjectNode) JSON.readTree(SMALLEST);
    applyDefaults(schema, expected);
    // These two are not constants, so the CRD cannot declare them.
    ((ObjectNode) expected.at("/goodput/batchSize")).put("max", 512);
    ((ObjectNode) expected.at("/program")).putObject("parameters");

    TrainingJobSpec spec = JSON.readValue(SMALLEST, TrainingJobSpec.class);
    JsonNode completed = withoutNulls(reparsed(SpecDefaults.complete(spec)));

    assertThat(completed).isEqualTo(expected);
  }

  @Test
  void templateNeedsNeitherProgramNorGoodput() throws Exception {
    var spec = JSON.readValue("{\"template\": {\"spec\": {}}}", TrainingJobSpec.class);
    TrainingJobSpec completed = SpecDefaults.complete(spec);
    assertThat(completed.gang()).isTrue();
    assertThat(completed.program()).isNull();
    assertThat(completed.goodput()).isNull();
    assertThat(completed.ours()).isTrue();
  }

  @Tag("slow")
  @Test
  void isIdempotent() throws Exception {
    var once = SpecDefaults.complete(JSON.readValue(SMALLEST, TrainingJobSpec.class));
    assertThat(SpecDefaults.complete(once)).isEqualTo(once);
  }

  @Test
  void defaultLargestBatchStaysWithinTheBound() throws Exception {
    var spec = JSON.readValue(SMALLEST.replace("32", "16000000"), TrainingJobSpec.class);
    var goodput = requireNonNull(SpecDefaults.complete(spec).goodput());
    assertThat(goodput.batchSize().max()).isEqualTo(16_777_216);
  }

  /** Through text, so that equal numbers are equal nodes whatever type they had. */
  private static JsonNode reparsed(Object value) throws IOException {
    return JSON.readTree(JSON.writeValueAsBytes(value));
  }

  private static void applyDefaults(JsonNode schema, ObjectNode value) {
    for (var property : schema.path("properties").properties()) {
      JsonNode declared = property.getValue().get("default");
      if (!value.has(property.getKey()) && declared != null) {
        value.set(property.getKey(), declared.deepCopy());
      }
      if (value.get(property.getKey()) instanceof ObjectNode child) {
        applyDefaults(property.getValue(), child);
      }
    }
  }

  private static JsonNode withoutNulls(JsonNode node) {
    if (node instanceof ObjectNode object) {
      object.properties().removeIf(entry -> entry.getValue().isNull());
      object.forEach(SpecDefaultsTest::withoutNulls);
    }
    return node;
  }
}
