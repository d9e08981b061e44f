package dev.kastor.simulator.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.scheduler.policy.registry.Policies;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.simulator.replay.Mode;
import dev.kastor.simulator.replay.Replay;
import dev.kastor.simulator.run.Conditions;
import dev.kastor.simulator.run.Outcome;
import dev.kastor.simulator.run.Run;
import dev.kastor.simulator.run.RunListener;
import dev.kastor.simulator.run.Simulate;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The report in a real browser. */
final class ReportIT {
  private static final Pattern POLICIES =
      Pattern.compile("<ul class=\"[^\"]*policies[^\"]*\">(.*?)</ul>", Pattern.DOTALL);
  private static final Pattern SWATCH =
      Pattern.compile(
          "<span class=\"swatch\" style=\"background: ([^\"]+?);?\"></span>(policy-\\d+)");

  @TempDir private Path folder;

  @Test
  void noTwoOfTwentyFourPoliciesLookTheSame() throws Exception {
    Path page = folder.resolve("report.html");
    Page.write(runs(24), Map.of(), page);
    for (String scheme : List.of("0", "1")) {
      String html = shown(page, "--blink-settings=preferredColorScheme=" + scheme);
      var lists = POLICIES.matcher(html);
      assertThat(lists.find()).isTrue();
      List<String> looks = new ArrayList<>();
      List<String> colours = new ArrayList<>();
      SWATCH
          .matcher(lists.group(1))
          .results()
          .forEach(swatch -> {
            looks.add(swatch.group(1));
            colours.add(swatch.group(1).replaceAll("(?s).*?(rgb\\([^)]*\\)).*", "$1"));
          });
      assertThat(looks).hasSize(24).doesNotHaveDuplicates();
      assertThat(colours.subList(0, 12)).doesNotHaveDuplicates();
    }
  }

  /** The same replay under so many names. */
  private static List<Outcome> runs(int count) throws Exception {
    Path traces = Path.of(System.getProperty("kastor.root", "..")).resolve("traces");
    Run run =
        new Run(
            Mode.EVENTS,
            traces.resolve("profiles/kastor.csv"),
            traces.resolve("workloads/burst-8.csv").toString(),
            ClusterShape.parse("4x4"),
            Policies.choose("fifo"),
            1,
            Duration.ofSeconds(60),
            1,
            Conditions.PLAIN);
    Outcome one = Simulate.prepare(List.of(run)).all(1, RunListener.NONE).getFirst();
    return IntStream.rangeClosed(1, count).mapToObj(i -> named(one, "policy-" + i)).toList();
  }

  private static Outcome named(Outcome outcome, String policy) {
    Replay replay = outcome.replay();
    Replay other =
        new Replay(
            policy,
            replay.workload(),
            replay.mode(),
            replay.seed(),
            replay.jobs(),
            replay.cpuSeconds(),
            replay.decisions(),
            replay.samples(),
            replay.nodeMoney());
    return new Outcome(outcome.run(), other, outcome.fairness(), outcome.assumptions());
  }

  /** The document after its scripts have run. */
  private String shown(Path page, String setting) throws IOException, InterruptedException {
    String chromium = Optional.ofNullable(System.getenv("CHROMIUM")).orElse("/usr/bin/chromium");
    Path html = folder.resolve("shown.html");
    Process browser =
        new ProcessBuilder(
                chromium,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--user-data-dir=" + folder.resolve("profile"),
                "--virtual-time-budget=5000",
                setting,
                "--dump-dom",
                page.toUri().toString())
            .redirectOutput(html.toFile())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    assertThat(browser.waitFor()).isZero();
    return Files.readString(html);
  }
}
