package dev.kastor.operator.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.scheduler.model.JobId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SequencedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StoredCurvesTest {
  private static final JobId JOB = new JobId("team", "bert");
  private static final Instant START = Instant.parse("2026-01-01T00:00:00.700Z");

  @Test
  void anOperatorThatStartsAnewShowsWhatTheOneBeforeStored() {
    JobStory before = story(0, 20, 1);
    String stored = StoredCurves.text(before, null);
    JobStory after = StoredCurves.completed(JobStory.empty(JOB), stored);
    assertThat(after.samples()).hasSize(20);
    Sample last = after.samples().getLast();
    Sample told = before.samples().getLast();
    assertThat(last.at().getEpochSecond()).isEqualTo(told.at().getEpochSecond());
    assertThat(last.step()).isEqualTo(told.step());
    assertThat(last.loss()).isCloseTo(told.loss(), within(told.loss() * 1e-4));
    assertThat(last.goodput()).isCloseTo(told.goodput(), within(0.01));
    assertThat(last.efficiency()).isCloseTo(told.efficiency(), within(1e-3));
    assertThat(last.stepsPerSecond()).isCloseTo(told.stepsPerSecond(), within(1e-2));
    assertThat(last.noiseScale()).as("not known").isNaN();
    assertThat(last.globalBatch()).isEqualTo(told.globalBatch());
    assertThat(after.scalars().keySet()).containsExactly("accuracy", "val/loss");
    assertThat(after.scalars().get("accuracy"))
        .extracting(ScalarPoint::step)
        .startsWith(0L)
        .endsWith(190L);
  }

  @Test
  void whatTheNewOperatorSeesComesBehindWhatIsStored() {
    String stored = StoredCurves.text(story(0, 20, 1), null);
    String next = StoredCurves.text(story(100, 10, 1), stored);
    JobStory whole = StoredCurves.completed(JobStory.empty(JOB), next);
    assertThat(whole.samples()).hasSize(30).isSortedAccordingTo((a, b) -> a.at().compareTo(b.at()));
    assertThat(whole.samples().getFirst().step()).isZero();
    assertThat(whole.samples().getLast().step()).isEqualTo(1090);
    assertThat(whole.scalars().get("val/loss")).hasSize(30);
  }

  @Test
  void storedAgainWhileTheSameOperatorLivesNothingIsTwice() {
    JobStory story = story(0, 20, 1);
    String stored = StoredCurves.text(story, null);
    assertThat(StoredCurves.text(story, stored)).isEqualTo(stored);
    assertThat(StoredCurves.completed(story, stored).samples()).hasSize(20);
    assertThat(StoredCurves.completed(story, stored).scalars().get("accuracy")).hasSize(20);
  }

  @Tag("slow")
  @Test
  void itIsBoundedHoweverLongTheJobAndHoweverOftenOperatorsChange() {
    String stored = "";
    for (int operator = 0; operator < 30; operator++) {
      stored = StoredCurves.text(story(operator * 1000, 300, 64), stored);
      assertThat(stored).hasSizeLessThan(10_000);
    }
    JobStory whole = StoredCurves.completed(JobStory.empty(JOB), stored);
    assertThat(whole.samples()).hasSizeBetween(20, StoredCurves.MOST_SAMPLES);
    assertThat(whole.samples().getFirst().step()).as("the beginning stays").isZero();
    assertThat(whole.scalars()).hasSize(StoredCurves.MOST_NAMES);
    assertThat(whole.scalars().values().stream().mapToInt(List::size).sum())
        .isLessThanOrEqualTo(StoredCurves.MOST_POINTS);
  }

  @Test
  void thinnedPointsAreEvenlySpreadOverTime() {
    List<Long> times = new ArrayList<>();
    for (long at = 0; at < 500; at++) {
      times.add(at);
    }
    for (long at = 500; at <= 10_000; at += 500) {
      times.add(at);
    }
    List<Long> kept = StoredCurves.thinned(times, Long::longValue, 11);
    assertThat(kept)
        .containsExactly(
            0L, 1000L, 2000L, 3000L, 4000L, 5000L, 6000L, 7000L, 8000L, 9000L, 10_000L);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "2 0",
        "1",
        "1 x",
        "1 0\ns 1 2",
        "1 0\ns 0 0 1 1 1 1 1 0 0 1",
        "1 9999999999999999\ns 0 0 1 1 1 1 1 1 0 1",
        "1 0\nm a 1 2",
        "1 0\nm"
      })
  void whatNoOperatorWroteCountsAsNothing(String text) {
    JobStory story = StoredCurves.completed(JobStory.empty(JOB), text);
    assertThat(story.samples()).isEmpty();
    assertThat(story.scalars()).isEmpty();
  }

  @Test
  void aLongTextIsNotRead() {
    assertThat(CurvesText.read("1 0\n" + "x 1\n".repeat(20_000)).samples()).isEmpty();
  }

  /** A story of so many seconds with one report each. */
  private static JobStory story(int from, int seconds, int names) {
    List<Sample> samples = new ArrayList<>();
    SequencedMap<String, List<ScalarPoint>> scalars = new TreeMap<>();
    for (int i = from; i < from + seconds; i++) {
      Instant at = START.plusSeconds(i);
      samples.add(
          new Sample(
              at,
              10L * i,
              2.5 / (1 + i),
              640.123456,
              600.5,
              600.5 / 640.123456,
              640.123456 / 128,
              Double.POSITIVE_INFINITY,
              0.05,
              new BatchPlan(32, 1),
              2));
      for (String name : names == 1 ? List.of("accuracy", "val/loss") : names(names)) {
        scalars
            .computeIfAbsent(name, first -> new ArrayList<>())
            .add(new ScalarPoint(at.toEpochMilli(), 10L * i, 0.123456789 * i));
      }
    }
    return JobStory.empty(JOB).with(samples, scalars);
  }

  private static List<String> names(int count) {
    List<String> names = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      names.add("x".repeat(60) + i);
    }
    return names;
  }
}
