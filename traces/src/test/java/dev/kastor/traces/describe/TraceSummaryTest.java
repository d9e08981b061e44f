package dev.kastor.traces.describe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.traces.TraceException;
import dev.kastor.traces.format.TraceFormats;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TraceSummaryTest {
  @TempDir private Path folder = Path.of("");

  private TraceSummary summary(String content) throws IOException, TraceException {
    Path file = Files.writeString(folder.resolve("sample.csv"), content);
    return TraceSummary.of(TraceFormats.read(file, TraceFormats.BUILT_IN, null, null));
  }

  @Test
  void countsJobsAndTheirTime() throws IOException, TraceException {
    TraceSummary summary =
        summary(
            """
            name,submitSeconds,application,requestedReplicas,durationSeconds,outcome
            a,0,,1,3600,completed
            b,10,,4,1800,killed
            c,20,bert,4,,completed
            d,7200,,1,7200,failed
            """);
    assertThat(summary.jobs()).isEqualTo(4);
    assertThat(summary.spanHours()).isEqualTo(2);
    assertThat(summary.meanArrivalsPerHour()).isEqualTo(2);
    assertThat(summary.peakArrivalsPerHour()).isEqualTo(3);
    assertThat(summary.meanReplicas()).isEqualTo(2.5);
    assertThat(summary.jobsByReplicas()).isEqualTo(Map.of(1, 2, 4, 2));
    assertThat(summary.jobsByApplication()).isEqualTo(Map.of("duration", 3, "bert", 1));
    assertThat(summary.jobsByOutcome()).isEqualTo(Map.of("completed", 2, "killed", 1, "failed", 1));
    assertThat(summary.gpuHours()).isCloseTo(5, within(1e-9));
    assertThat(summary.durationSeconds())
        .containsEntry("mean", 4200.0)
        .containsEntry("p50", 3600.0)
        .containsEntry("max", 7200.0);
  }

  @Test
  void leavesOutDurationsThatAreNotKnown() throws IOException, TraceException {
    TraceSummary summary =
        summary("name,time,application,num_replicas,batch_size\na,0,bert,2,12\n");
    assertThat(summary.format()).isEqualTo("pollux");
    assertThat(summary.durationSeconds()).isEmpty();
    assertThat(summary.gpuHours()).isZero();
  }
}
