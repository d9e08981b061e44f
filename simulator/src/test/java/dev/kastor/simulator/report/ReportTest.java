package dev.kastor.simulator.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.scheduler.policy.registry.Policies;
import dev.kastor.simulator.bound.LowerBound;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.simulator.replay.DecisionTimes;
import dev.kastor.simulator.replay.Mode;
import dev.kastor.simulator.replay.Replay;
import dev.kastor.simulator.replay.Sample;
import dev.kastor.simulator.run.Conditions;
import dev.kastor.simulator.run.Outcome;
import dev.kastor.simulator.run.Run;
import dev.kastor.simulator.run.RunListener;
import dev.kastor.simulator.run.Simulate;
import java.awt.image.BufferedImage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalDouble;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ReportTest {
  private static List<Outcome> outcomes = List.of();

  @TempDir private Path folder;

  @BeforeAll
  static void replay() throws Exception {
    Path traces = Path.of(System.getProperty("kastor.root", "..")).resolve("traces");
    List<Run> runs =
        List.of("fifo", "optimus").stream()
            .map(policy ->
                new Run(
                    Mode.EVENTS,
                    traces.resolve("profiles/kastor.csv"),
                    traces.resolve("workloads/burst-8.csv").toString(),
                    ClusterShape.parse("4x4"),
                    Policies.choose(policy),
                    1,
                    Duration.ofSeconds(60),
                    1,
                    Conditions.PLAIN))
            .toList();
    outcomes = Simulate.prepare(runs).all(1, RunListener.NONE);
  }

  @Tag("slow")
  @Test
  void drawsEveryPictureWithMoreThanOneColour() throws Exception {
    List<Path> files = Charts.write(outcomes, folder);
    assertThat(files.stream().map(file -> folder.relativize(file).toString()))
        .containsExactly(
            "jct-cdf.png",
            "queue.png",
            "utilisation.png",
            "efficiency.png",
            "allocation-fifo.png",
            "allocation-optimus.png");
    for (Path file : files) {
      BufferedImage image = Objects.requireNonNull(ImageIO.read(file.toFile()));
      int[] pixels =
          image.getRGB(0, 0, image.getWidth(), image.getHeight(), null, 0, image.getWidth());
      // Apart from the grey of text and grid: something of a series must be there.
      assertThat(Arrays.stream(pixels).filter(ReportTest::coloured).count())
          .as(file.toString())
          .isGreaterThan(200);
    }
  }

  private static boolean coloured(int rgb) {
    int red = rgb >> 16 & 255;
    int blue = rgb & 255;
    return Math.abs(red - blue) > 60;
  }

  @Tag("slow")
  @Test
  void thePageNeedsNothingElse() throws Exception {
    Path page = folder.resolve("report.html");
    String workload = outcomes.getFirst().run().workload();
    LowerBound bound = new LowerBound(100, OptionalDouble.of(110), Duration.ofMinutes(1), 0);
    Page.write(outcomes, Map.of(workload, bound), page);
    String html = Files.readString(page);
    assertThat(html)
        .contains("echarts")
        .contains(
            "\"policy\":\"optimus\"",
            "\"bound\":\"No schedule has a mean JCT below 100 s",
            "\"overBound\":")
        .doesNotContain("/*ECHARTS*/", "\"DATA\"", "<script src", "<link", "@import");
    // Three script elements would mean that some content ended one early.
    assertThat(html.split("</script>", -1)).hasSize(3);
    assertThat(folder.toFile().list()).containsExactly("report.html");
  }

  @Test
  void meansOverTimeNotOverDecisions() {
    // Two GPUs of four for three quarters of an hour, then none, decided in uneven steps.
    Sample busy = new Sample(0, 3, 1, 2, 4, 0.5, new LinkedHashMap<>(Map.of("digits", 2)));
    Sample again = new Sample(100, 3, 1, 2, 4, 0.5, new LinkedHashMap<>(Map.of("digits", 2)));
    Sample idle = new Sample(2700, 0, 0, 0, 4, Double.NaN, new LinkedHashMap<>());
    Replay replay =
        new Replay(
            "fifo",
            "w",
            Mode.EVENTS,
            1,
            List.of(new Replay.Completed("a", "digits", 0, 0, 3600, 0, 1)),
            0,
            new DecisionTimes(0, 0, 0, 0),
            List.of(busy, again, idle));
    Timeline timeline = Timeline.of(replay, 3600, 2);
    assertThat(timeline.utilisation()).containsExactly(0.5, 0.25);
    assertThat(timeline.queued()).containsExactly(2, 1);
    assertThat(timeline.efficiency()).containsExactly(0.5, 0.5);
    assertThat(timeline.gpusByApplication().get("digits")).containsExactly(2, 1);
    assertThat(timeline.hours()).containsExactly(0.25, 0.75);
  }

  @Test
  void csvHasALineForEachRun() {
    List<String> lines = RunsCsv.of(outcomes).lines().toList();
    assertThat(lines).hasSize(3);
    assertThat(lines.get(1)).startsWith("fifo,");
    int columns = lines.getFirst().split(",", -1).length;
    assertThat(lines).allMatch(line -> line.split(",", -1).length == columns);
  }
}
