package dev.kastor.traces.profile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.scheduler.goodput.PlacementShape;
import dev.kastor.scheduler.goodput.ThroughputParams;
import dev.kastor.traces.ParametricApplication;
import dev.kastor.traces.StepTime;
import dev.kastor.traces.TraceException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ApplicationFileTest {
  private static final String HEADER = String.join(",", ApplicationFile.COLUMNS) + "\n";
  private static final String T4 =
      "net,t4,0.1,0.01,0.3,0.02,0.1,0.005,2,64,1024,8,128,16,1000,10,30,0:100;0.5:300\n";
  private static final String A100 =
      "net,a100,0.02,0.002,0.2,0.02,0.05,0.005,1.5,64,1024,8,256,,,,,\n";

  @TempDir private Path folder = Path.of("");

  private Path file(String content) throws IOException {
    return Files.writeString(folder.resolve("a.csv"), content);
  }

  private ParametricApplication net() throws IOException, TraceException {
    return ApplicationFile.read(file(HEADER + T4 + A100)).firstEntry().getValue();
  }

  @Test
  void stepTimesAreThoseOfTheThroughputModel() throws IOException, TraceException {
    ParametricApplication net = net();
    ThroughputParams t4 = net.on("t4").throughput();
    PlacementShape shape = new PlacementShape(3, 7, "t4");
    StepTime time = net.stepTime("t4", new int[] {4, 2, 1}, 100);
    assertThat(time.stepSeconds(2))
        .isCloseTo(t4.stepSeconds(shape, new BatchPlan(100, 2)), within(1e-12));
    assertThat(time.passSeconds()).isCloseTo(0.1 + 0.01 * 100, within(1e-12));
    assertThat(net.stepTime("a100", new int[] {4, 2, 1}, 100).stepSeconds())
        .isLessThan(time.stepSeconds());
    assertThat(net.stepTime("t4", new int[] {4}, 129)).isEqualTo(StepTime.UNKNOWN);
    assertThat(net.stepTime("a100", new int[] {4}, 129).isKnown()).isTrue();
    assertThat(net.stepTime("t4", new int[] {4}, 7)).isEqualTo(StepTime.UNKNOWN);
  }

  @Test
  void workIsCountedInStepsOfTheInitialBatch() throws IOException, TraceException {
    ParametricApplication net = net();
    assertThat(net.gpuTypes()).containsExactly("t4", "a100");
    assertThat(net.progressAt(10)).isEqualTo(1000);
    assertThat(net.remainingSteps(64, 0)).isCloseTo(1000, within(1e-9));
    assertThat(net.remainingSteps(64, 10)).isZero();
    // Noise of 100 examples at a batch of 128: gain (100/64 + 1) / (100/128 + 1).
    assertThat(net.gradient(128, 0).gain(128)).isCloseTo(164 / 114.0, within(1e-12));
    assertThat(net.remainingSteps(128, 0)).isBetween(500.0, 1000 / (164 / 114.0));
    assertThat(net.restartSeconds()).isEqualTo(30);
    assertThat(net.maxReplicas()).isEqualTo(16);
  }

  @Test
  void aClusterWithoutTypesIsOfTheFirst() throws IOException, TraceException {
    ParametricApplication net = net();
    assertThat(net.batchLimits("")).isEqualTo(net.batchLimits("t4"));
    assertThatThrownBy(() -> net.batchLimits("v100"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("net", "v100", "t4, a100");
    ParametricApplication alike =
        ApplicationFile.read(file(HEADER + T4.replace("t4", ""))).firstEntry().getValue();
    assertThat(alike.stepTime("v100", new int[] {2}, 64))
        .isEqualTo(alike.stepTime("", new int[] {2}, 64));
  }

  @Test
  void whatIsWrittenReadsBackTheSame() throws IOException, TraceException {
    ParametricApplication net = net();
    Path copy = file(ApplicationFile.text(List.of("a note"), List.of(net)));
    assertThat(ApplicationFile.read(copy)).isEqualTo(Map.of("net", net));
    assertThat(Applications.read(copy)).isEqualTo(Map.of("net", net));
  }

  @Test
  void namesThePlaceOfAMistake() throws IOException {
    refuses("", "is empty", "application");
    refuses(HEADER, "has no applications");
    refuses("application,gpuType\n", "line 1", "no column alphaCompute");
    refuses(HEADER + "net,t4,0.1\n", "line 2", "3 cells, not 18");
    refuses(HEADER + T4.replace("0.3", "-0.3"), "line 2", "column alphaNetwork", "'-0.3'");
    refuses(HEADER + T4.replace("0.01", "NaN"), "line 2", "column betaCompute", "not finite");
    refuses(HEADER + T4.replace(",2,64", ",0.5,64"), "line 2", "column gamma", "at least 1");
    refuses(HEADER + T4.replace("1024", "32"), "line 2", "column maxBatch", "initialGlobalBatch");
    refuses(HEADER + T4.replace("0.5:300", "0.5"), "line 2", "column noiseScale", "'0.5'");
    refuses(HEADER + T4.replace("0:100", "0.1:100"), "line 2", "column noiseScale", "share 0");
    refuses(HEADER + T4.replace(",1000,", ",,"), "line 2", "column totalSteps", "empty");
    refuses(HEADER + T4 + T4, "line 3", "column gpuType", "'t4' twice");
    refuses(
        HEADER + T4 + T4.replace("t4", "a100").replace("1000", "1"), "line 3", "changes the work");
    refuses(HEADER + T4 + A100.replace(",64,", ",32,"), "line 3", "several initial batches");
  }

  private void refuses(String content, String... says) throws IOException {
    Path file = file(content);
    assertThatThrownBy(() -> ApplicationFile.read(file))
        .isInstanceOf(TraceException.class)
        .hasMessageContaining("a.csv")
        .hasMessageContainingAll(says);
  }

  @Test
  void saysWhatAFolderShouldHold() {
    assertThatThrownBy(() -> Applications.read(folder))
        .isInstanceOf(TraceException.class)
        .hasMessageContaining("placements.csv");
  }
}
