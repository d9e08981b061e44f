package dev.kastor.traces.measured;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.testkit.PublishedTraces;
import dev.kastor.traces.Application;
import dev.kastor.traces.CsvRow;
import dev.kastor.traces.StepTime;
import dev.kastor.traces.TraceException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Step times that the reference simulator of Pollux's artifact looks up in the same profiles. */
@Tag("slow")
@Tag("never-retried")
final class PublishedThroughputTest {
  private static final double TOLERANCE = 1e-9;

  @Test
  void looksUpWhatTheReferenceLooksUp() throws TraceException {
    Path checks = PublishedTraces.path("pollux/checks/throughput.csv");
    Map<String, Application> applications =
        PolluxApplications.read(PublishedTraces.path("pollux/applications"));
    List<CsvRow> rows =
        CsvRow.readAtLeast(
            checks, List.of("application", "placement", "local_bsz", "step_time", "sync_time"));
    assertThat(rows).hasSize(960);
    SoftAssertions softly = new SoftAssertions();
    int known = 0;
    for (CsvRow row : rows) {
      Application application = Objects.requireNonNull(applications.get(row.text("application")));
      int[] placement =
          Arrays.stream(row.text("placement").split("-", -1)).mapToInt(Integer::parseInt).toArray();
      int atomicBatch = row.positive("local_bsz");
      StepTime time = application.stepTime("", placement, atomicBatch);
      String where =
          "%s on %s with %d".formatted(application.name(), Arrays.toString(placement), atomicBatch);
      if (row.isBlank("step_time")) {
        softly.assertThat(time).as(where).isEqualTo(StepTime.UNKNOWN);
      } else {
        known++;
        double step = row.atLeast("step_time", 0);
        softly
            .assertThat(time.stepSeconds())
            .as(where)
            .isCloseTo(step, within(TOLERANCE * Math.max(1, step)));
        softly
            .assertThat(time.syncSeconds())
            .as(where)
            .isCloseTo(row.number("sync_time", row.text("sync_time")), within(TOLERANCE));
      }
    }
    softly.assertAll();
    assertThat(known).isGreaterThan(500);
  }
}
