package dev.kastor.traces.fit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.testkit.PublishedTraces;
import dev.kastor.traces.Application;
import dev.kastor.traces.StepTime;
import dev.kastor.traces.TraceException;
import dev.kastor.traces.profile.Applications;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The shipped applications behave as the measurements that they were fitted to. */
final class ShippedApplicationsTest {
  private static final Path SHIPPED =
      Path.of(System.getProperty("kastor.root", "..")).resolve("traces/profiles/fitted.csv");
  private static final Map<String, String> TYPES =
      Map.of("t4", "aws", "a100", "dgx-ext", "rtx", "rtx");
  private static final List<int[]> PLACEMENTS =
      List.of(new int[] {1}, new int[] {2}, new int[] {4}, new int[] {4, 4});

  @Tag("slow")
  @Test
  void stepTimesAreThoseOfTheMeasurements() throws TraceException {
    Map<String, Application> measured = Applications.read(PublishedTraces.path("sia/profiles"));
    for (Application shipped : Applications.read(SHIPPED).values()) {
      Application source = Objects.requireNonNull(measured.get(shipped.name()));
      assertThat(shipped.epochs()).isEqualTo(source.epochs());
      assertThat(shipped.progressAt(shipped.epochs()))
          .isEqualTo(Math.rint(source.progressAt(source.epochs())));
      for (String type : shipped.gpuTypes()) {
        List<Double> errors = errors(shipped, type, source, TYPES.getOrDefault(type, type));
        assertThat(errors).hasSizeGreaterThan(10);
        assertThat(errors.get(errors.size() / 2))
            .as("median relative error of %s on %s", shipped.name(), type)
            .isLessThan(bound(shipped, type));
      }
    }
  }

  /**
   * Times of yolov3 on eight A100 rise with the first few replicas only, which no constants fit.
   */
  private static double bound(Application application, String type) {
    return application.name().equals("yolov3") && type.equals("a100") ? 0.25 : 0.15;
  }

  private static List<Double> errors(
      Application shipped, String type, Application source, String sourceType) {
    List<Double> errors = new ArrayList<>();
    BatchLimits limits = shipped.batchLimits(type);
    for (int[] placement : PLACEMENTS) {
      for (double batch = limits.minAtomicBatch(); batch <= limits.maxAtomicBatch(); batch *= 1.3) {
        StepTime truth = source.stepTime(sourceType, placement, (int) batch);
        StepTime formula = shipped.stepTime(type, placement, (int) batch);
        if (truth.isKnown()) {
          errors.add(Math.abs(formula.stepSeconds() - truth.stepSeconds()) / truth.stepSeconds());
        }
      }
    }
    errors.sort(null);
    return errors;
  }
}
