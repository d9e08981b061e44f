package dev.kastor.operator.api;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.CheckpointInfo;
import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.Member;
import dev.kastor.protocol.Membership;
import dev.kastor.protocol.Outcome;
import dev.kastor.protocol.ParameterServer;
import dev.kastor.protocol.Progress;
import dev.kastor.protocol.Scalars;
import dev.kastor.protocol.Slowest;
import dev.kastor.protocol.Staleness;
import dev.kastor.protocol.StepProfile;
import dev.kastor.protocol.Switch;
import dev.kastor.protocol.TelemetryReport;
import java.lang.reflect.RecordComponent;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.eclipse.microprofile.openapi.OASFactory;
import org.eclipse.microprofile.openapi.OASFilter;
import org.eclipse.microprofile.openapi.models.OpenAPI;
import org.eclipse.microprofile.openapi.models.media.Schema;
import org.jspecify.annotations.Nullable;

/**
 * Requirements and bounds of the agent API's records in its OpenAPI document.
 *
 * <p>What is required follows from the records, as it does where reports are read. The bounds are
 * those that the records check; a test holds each against them.
 */
public final class WireSchemas implements OASFilter {
  private static final double MOST_COUNTED = 1L << 52;
  private static final double MOST_SECONDS = 1e9;
  private static final double MOST_NORM = 1.2e77;
  private static final double MOST_MILLIS = 253_402_300_799_999.0;
  private static final double NO_MOST = Double.POSITIVE_INFINITY;
  private static final Bound COUNTED = new Bound(0, MOST_COUNTED);
  private static final Bound AT_LEAST_0 = new Bound(0, NO_MOST);
  private static final Bound AT_LEAST_1 = new Bound(1, NO_MOST);
  private static final Bound REPLICAS = new Bound(0, TelemetryReport.MAX_REPLICAS);

  /**
   * Values that a component may have; for text, its length.
   *
   * @param least the least
   * @param most the most; infinite where only the number's format bounds it
   */
  record Bound(double least, double most) {}

  /** The records by the names of their schemas. */
  static final List<Class<? extends Record>> RECORDS =
      List.of(
          BatchPlan.class,
          CheckpointInfo.class,
          GradientStats.class,
          Member.class,
          Membership.class,
          Outcome.class,
          ParameterServer.class,
          Progress.class,
          Slowest.class,
          Staleness.class,
          StepProfile.class,
          Switch.class,
          TelemetryReport.class);

  /** Bounds by schema and property. Finite numbers without a bound are not listed. */
  static final Map<String, Bound> BOUNDS =
      Map.ofEntries(
          Map.entry("BatchPlan.atomicBatchSize", AT_LEAST_1),
          Map.entry("BatchPlan.accumulationSteps", AT_LEAST_0),
          Map.entry("CheckpointInfo.step", COUNTED),
          Map.entry("CheckpointInfo.bytes", AT_LEAST_0),
          Map.entry("CheckpointInfo.savedAtEpochMillis", new Bound(0, MOST_MILLIS)),
          Map.entry("GradientStats.squaredNorm", new Bound(0, MOST_NORM)),
          Map.entry("GradientStats.variance", new Bound(0, MOST_NORM)),
          Map.entry("GradientStats.initialBatch", AT_LEAST_1),
          Map.entry("Outcome.lostOrRepeatedExamples", AT_LEAST_0),
          Map.entry("Outcome.message", new Bound(0, 2048)),
          Map.entry("Outcome.metricName", new Bound(0, 64)),
          Map.entry("Outcome.outOfMemoryAt", AT_LEAST_1),
          Map.entry("Progress.step", COUNTED),
          Map.entry("Progress.scaleInvariantSteps", COUNTED),
          Map.entry("Progress.totalScaleInvariantSteps", COUNTED),
          Map.entry("Progress.examples", COUNTED),
          Map.entry("Progress.epoch", COUNTED),
          Map.entry("Slowest.passSeconds", AT_LEAST_0),
          Map.entry("Slowest.othersSeconds", AT_LEAST_0),
          Map.entry("StepProfile.nodes", AT_LEAST_1),
          Map.entry("StepProfile.replicas", new Bound(1, TelemetryReport.MAX_REPLICAS)),
          Map.entry("StepProfile.atomicBatchSize", AT_LEAST_1),
          Map.entry("StepProfile.steps", AT_LEAST_1),
          Map.entry("StepProfile.stepSeconds", new Bound(1e-9, MOST_SECONDS)),
          Map.entry("StepProfile.syncSeconds", AT_LEAST_0),
          Map.entry("StepProfile.gpuType", new Bound(0, 256)),
          Map.entry("Switch.generation", AT_LEAST_0),
          Map.entry("Switch.replicasBefore", REPLICAS),
          Map.entry("Switch.replicasAfter", REPLICAS),
          Map.entry("Switch.pauseSeconds", new Bound(0, MOST_SECONDS)),
          Map.entry("TelemetryReport.generation", AT_LEAST_0),
          Map.entry("TelemetryReport.sequence", AT_LEAST_0),
          Map.entry("TelemetryReport.replicas", REPLICAS),
          Map.entry("TelemetryReport.learningRate", AT_LEAST_0),
          Map.entry("TelemetryReport.droppedCopies", COUNTED),
          Map.entry("TelemetryReport.unsaved", new Bound(0, TelemetryReport.MAX_TEXT)));

  private static final Map<String, Integer> MOST_ENTRIES =
      Map.of(
          "Staleness.counts", Staleness.MOST_COUNTS,
          "TelemetryReport.profiles", TelemetryReport.MAX_ENTRIES,
          "TelemetryReport.switches", TelemetryReport.MAX_ENTRIES);

  /** Maps by name, with the most entries that one may have. */
  static final Map<String, Integer> MOST_NAMES = Map.of("TelemetryReport.scalars", Scalars.MOST);

  @Override
  public void filterOpenAPI(OpenAPI document) {
    Map<String, Schema> schemas = document.getComponents().getSchemas();
    for (Class<? extends Record> each : RECORDS) {
      Schema schema = schemas.get(each.getSimpleName());
      if (schema != null) {
        complete(each, schema);
      }
    }
  }

  private static void complete(Class<? extends Record> type, Schema schema) {
    List<String> required = new ArrayList<>();
    for (RecordComponent component : type.getRecordComponents()) {
      String name = component.getName();
      if (!component.getAnnotatedType().isAnnotationPresent(Nullable.class)) {
        required.add(name);
      }
      Schema property = Objects.requireNonNull(schema.getProperties().get(name), name);
      Bound bound = BOUNDS.get(type.getSimpleName() + "." + name);
      if (bound != null) {
        bound(property, bound, component.getType() == String.class);
      }
      property.setMaxItems(MOST_ENTRIES.get(type.getSimpleName() + "." + name));
      Integer mostNames = MOST_NAMES.get(type.getSimpleName() + "." + name);
      if (mostNames != null) {
        property.setMaxProperties(mostNames);
        property.setPropertyNames(OASFactory.createSchema().pattern("^" + Scalars.NAME + "$"));
      }
    }
    schema.setRequired(required);
  }

  private static void bound(Schema property, Bound bound, boolean text) {
    if (text) {
      property.setMaxLength((int) bound.most());
      return;
    }
    property.setMinimum(number(bound.least()));
    if (bound.most() < NO_MOST) {
      property.setMaximum(number(bound.most()));
    }
  }

  private static BigDecimal number(double value) {
    return value == Math.rint(value) && value < Long.MAX_VALUE
        ? BigDecimal.valueOf((long) value)
        : BigDecimal.valueOf(value);
  }
}
