package dev.kastor.e2e.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Renders the chart with every set of values, where there is a {@code helm}. */
final class ChartRenderTest {
  @BeforeAll
  static void needHelm() {
    assumeTrue(
        Helm.found(),
        "no helm on PATH or in the cache of ./kastor e2e: the chart was not rendered");
  }

  @Tag("slow")
  @Test
  void isWithoutFault() throws Exception {
    assertThat(new Chart("kastor-system").lint()).contains("0 chart(s) failed");
  }

  @Tag("slow")
  @TestFactory
  Stream<DynamicTest> rendersWithGoodValues() {
    return ChartValues.good("team").entrySet().stream()
        .map(set ->
            DynamicTest.dynamicTest(
                set.getKey(),
                () -> {
                  Chart chart = new Chart("kastor-system", set.getValue().toArray(String[]::new));
                  assertThat(chart.lint()).contains("0 chart(s) failed");
                  check(chart.render());
                }));
  }

  @Tag("slow")
  @TestFactory
  Stream<DynamicTest> refusesBadValues() {
    return ChartValues.bad().entrySet().stream()
        .map(bad ->
            DynamicTest.dynamicTest(
                bad.getKey(),
                () ->
                    assertThatThrownBy(() -> new Chart("kastor-system", bad.getKey()).render())
                        .hasMessageContaining(bad.getValue())));
  }

  @Tag("slow")
  @Test
  void takesImagesFromAMirror() throws Exception {
    String rendered =
        new Chart(
                "kastor-system",
                "image.registry=mirror.example:5000",
                "image.operator=docker.io/kastor/operator@sha256:0a",
                "image.agent=kastor/training-agent:1.2.3")
            .render();
    assertThat(rendered)
        .contains("image: mirror.example:5000/kastor/operator@sha256:0a\n")
        .contains("value: \"mirror.example:5000/kastor/training-agent:1.2.3\"");
  }

  private static void check(String rendered) throws IOException {
    Set<String> names = new HashSet<>();
    List<JsonNode> documents =
        new YAMLMapper()
            .readerFor(JsonNode.class).<JsonNode>readValues(rendered).readAll().stream()
                .filter(JsonNode::isObject)
                .toList();
    assertThat(documents).hasSizeGreaterThan(8);
    for (JsonNode each : documents) {
      String kind = each.path("kind").asText();
      String name = each.at("/metadata/namespace").asText() + each.at("/metadata/name").asText();
      assertThat(names.add(kind + "/" + name)).as("one %s %s", kind, name).isTrue();
      if (!kind.equals("CustomResourceDefinition")) {
        assertThat(each.at("/metadata/labels/app.kubernetes.io~1part-of").asText())
            .as("label of %s %s", kind, name)
            .isEqualTo("kastor");
      }
      if (kind.equals("Deployment")) {
        assertThat(each.at("/spec/template/spec/securityContext/runAsNonRoot").asBoolean())
            .isTrue();
        JsonNode container = each.at("/spec/template/spec/containers/0/securityContext");
        assertThat(container.path("readOnlyRootFilesystem").asBoolean()).isTrue();
        assertThat(container.at("/capabilities/drop/0").asText()).isEqualTo("ALL");
        assertThat(each.at("/spec/template/spec/tolerations").findValuesAsText("key"))
            .as("what the operator does not stay on for five minutes")
            .contains("node.kubernetes.io/unreachable", "node.kubernetes.io/not-ready");
      }
    }
  }
}
