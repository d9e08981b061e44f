package dev.kastor.operator.api;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

final class WireSchemasTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String LONGEST_NAME =
      "0123456789012345678901234567890123456789012345678901234567890123";

  /** Numbers that may be any finite one. */
  private static final Set<String> FREE = Set.of("Outcome.metric", "TelemetryReport.trainingLoss");

  /** What only the operator writes. */
  private static final Set<String> ANSWERS = Set.of("Member", "Membership", "ParameterServer");

  /** Where a record is in a report. */
  private static final Map<String, String> PLACES =
      Map.of(
          "BatchPlan", "/batch",
          "CheckpointInfo", "/checkpoint",
          "GradientStats", "/gradient",
          "Outcome", "/outcome",
          "Progress", "/progress",
          "Slowest", "/slowest",
          "StepProfile", "/profiles/0",
          "Switch", "/switches/0",
          "TelemetryReport", "");

  private static final String REPORT =
      """
      {"namespace": "team", "job": "a", "pod": "a-0", "generation": 1, "sequence": 1, "replicas": 1,
       "batch": {"atomicBatchSize": 1, "accumulationSteps": 0},
       "profiles": [{"nodes": 1, "replicas": 100000, "atomicBatchSize": 1, "steps": 1,
                     "stepSeconds": 1.0, "syncSeconds": 0.0, "gpuType": ""}],
       "gradient": {"squaredNorm": 1.0, "variance": 1.0, "initialBatch": 1},
       "progress": {"step": 1, "scaleInvariantSteps": 1.0, "totalScaleInvariantSteps": 1.0,
                    "examples": 1, "epoch": 0},
       "checkpoint": {"step": 1, "bytes": 1, "savedAtEpochMillis": 1},
       "switches": [{"generation": 1, "replicasBefore": 0, "replicasAfter": 1, "cause": "START",
                     "pauseSeconds": 0.0}],
       "outcome": {"kind": "LEFT", "metricName": "", "lostOrRepeatedExamples": 0, "message": "",
                   "outOfMemoryAt": 1},
       "trainingLoss": 0.5, "learningRate": 0.1,
       "slowest": {"pod": "a-0", "passSeconds": 0.0, "othersSeconds": 0.0},
       "scalars": {"accuracy": 0.5}, "unsaved": "",
       "staleness": {"counts": [2, 1]}, "droppedCopies": 0}
      """;

  static Stream<String> bounds() {
    return WireSchemas.BOUNDS.keySet().stream().sorted();
  }

  @Tag("slow")
  @ParameterizedTest
  @MethodSource("bounds")
  void aBoundOfTheDocumentIsTheOneOfReports(String property) throws Exception {
    WireSchemas.Bound bound = Objects.requireNonNull(WireSchemas.BOUNDS.get(property));
    boolean text = original(property).isTextual();
    if (!text) {
      assertThatCode(() -> read(property, bound.least())).doesNotThrowAnyException();
      assertThatThrownBy(() -> read(property, below(property, bound.least())))
          .isInstanceOf(ApiException.class);
    }
    if (bound.most() < Double.POSITIVE_INFINITY) {
      assertThatCode(() -> read(property, text ? "x".repeat((int) bound.most()) : bound.most()))
          .doesNotThrowAnyException();
      assertThatThrownBy(() ->
              read(
                  property,
                  text ? "x".repeat((int) bound.most() + 1) : above(property, bound.most())))
          .isInstanceOf(ApiException.class);
    }
  }

  @Test
  void everyNumberOfAReportHasABound() {
    Set<String> numbers =
        WireSchemas.RECORDS.stream()
            .filter(type -> !ANSWERS.contains(type.getSimpleName()))
            .flatMap(type ->
                Arrays.stream(type.getRecordComponents())
                    .filter(WireSchemasTest::isNumber)
                    .map(component -> type.getSimpleName() + "." + component.getName()))
            .filter(name -> !FREE.contains(name))
            .collect(Collectors.toSet());
    assertThat(WireSchemas.BOUNDS).containsKeys(numbers.toArray(String[]::new));
  }

  @ParameterizedTest
  @ValueSource(strings = {"a", "Val/top-1_acc.mean", "kastor", "loss2", LONGEST_NAME})
  void takesAScalarOfThatName(String name) {
    assertThatCode(() -> scalars(Map.of(name, -1e308))).doesNotThrowAnyException();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a b", "ä", "a\n", "loss", "kastor/goodput", LONGEST_NAME + "x"})
  void refusesAScalarOfThatName(String name) {
    assertThatThrownBy(() -> scalars(Map.of(name, 1.0)))
        .isInstanceOf(ApiException.class)
        .hasMessageContaining("scalars");
  }

  @Tag("slow")
  @Test
  void aScalarIsAFiniteNumberAndThereAreNotTooMany() {
    Map<String, Object> most = new TreeMap<>();
    for (int i = 0;
        i < requireNonNull(WireSchemas.MOST_NAMES.get("TelemetryReport.scalars"));
        i++) {
      most.put("s" + i, 1.0);
    }
    assertThatCode(() -> scalars(most)).doesNotThrowAnyException();
    most.put("more", 1.0);
    assertThatThrownBy(() -> scalars(most)).hasMessageContaining("scalars: free entries");
    for (Object value : new Object[] {Double.NaN, Double.POSITIVE_INFINITY, "1", true, List.of()}) {
      assertThatThrownBy(() -> scalars(Map.of("a", value)))
          .as("%s", value)
          .isInstanceOf(ApiException.class);
    }
    assertThatThrownBy(() -> scalars(Collections.singletonMap("a", null)))
        .hasMessageContaining("scalars.a must be a number");
  }

  private static void scalars(Map<String, ?> scalars) throws ApiException, IOException {
    ObjectNode report = (ObjectNode) JSON.readTree(REPORT);
    report.putPOJO("scalars", scalars);
    byte[] bytes = JSON.writeValueAsString(report).getBytes(UTF_8);
    ReportReader.read(new ByteArrayInputStream(bytes), bytes.length);
  }

  private static boolean isNumber(RecordComponent component) {
    return component.getType().isPrimitive() || Number.class.isAssignableFrom(component.getType());
  }

  private static double below(String property, double least) throws IOException {
    return original(property).isIntegralNumber() ? least - 1 : least == 0 ? -1e-9 : least / 2;
  }

  private static double above(String property, double most) throws IOException {
    return original(property).isIntegralNumber() ? most + 1 : Math.nextUp(most);
  }

  private static JsonNode original(String property) throws IOException {
    return JSON.readTree(REPORT).at(place(property)).get(name(property));
  }

  private static void read(String property, Object value) throws ApiException, IOException {
    JsonNode report = JSON.readTree(REPORT);
    ObjectNode holder = (ObjectNode) report.at(place(property));
    Object written =
        value instanceof Double number && holder.get(name(property)).isIntegralNumber()
            ? Long.valueOf(number.longValue())
            : value;
    holder.putPOJO(name(property), written);
    byte[] bytes = JSON.writeValueAsString(report).getBytes(UTF_8);
    ReportReader.read(new ByteArrayInputStream(bytes), bytes.length);
  }

  private static String place(String property) {
    return Objects.requireNonNull(PLACES.get(property.substring(0, property.indexOf('.'))));
  }

  private static String name(String property) {
    return property.substring(property.indexOf('.') + 1);
  }
}
