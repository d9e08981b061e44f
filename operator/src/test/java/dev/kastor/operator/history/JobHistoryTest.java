package dev.kastor.operator.history;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.protocol.Scalars;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.Reason;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class JobHistoryTest {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final JobId JOB = new JobId("default", "a");
  private static final Reason REASON = Reason.of("Grow", "two slots are free");

  private final JobHistory history = new JobHistory();

  @Test
  void recordsAllocationsAsSegmentsWithTheirReasons() {
    history.allocated(JOB, Allocation.on("n1", 1), Reason.of("Start", "first"), START);
    history.allocated(JOB, Allocation.on("n1", 3), REASON, START.plusSeconds(10));
    history.allocated(JOB, Allocation.NONE, Reason.of("Done", "over"), START.plusSeconds(30));

    List<Segment> segments = story(JOB).segments();

    assertThat(segments).extracting(Segment::replicas).containsExactly(1, 3, 0);
    assertThat(segments)
        .extracting(Segment::to)
        .containsExactly(START.plusSeconds(10), START.plusSeconds(30), null);
    assertThat(segments.get(1).reason()).isEqualTo("Grow");
    assertThat(segments.get(1).message()).isEqualTo("two slots are free");
  }

  @Test
  void ignoresAnAllocationThatChangesNothing() {
    history.allocated(JOB, Allocation.on("n1", 2), REASON, START);
    history.allocated(JOB, Allocation.on("n1", 2), REASON, START.plusSeconds(5));
    history.resume(JOB, Allocation.on("n1", 4), REASON, START.minusSeconds(60));

    assertThat(story(JOB).segments()).hasSize(1);
  }

  @Test
  void absorbsTheShortestSegmentWhenTheTimelineIsFull() {
    Timeline timeline = new Timeline(4);
    int[] begins = {0, 100, 200, 201, 300};
    for (int i = 0; i < begins.length; i++) {
      timeline.begin(Allocation.on("n1", i + 1), REASON, START.plusSeconds(begins[i]));
    }

    assertThat(timeline.segments()).extracting(Segment::replicas).containsExactly(1, 2, 4, 5);
    assertThat(timeline.segments().get(1).to()).isEqualTo(START.plusSeconds(201));
  }

  @Test
  void measuresThroughputAndGoodputFromProgress() {
    // Noise scale 32 * 3 / 1 = 96: a batch of 64 gains (3 + 1) / (3 / 2 + 1) = 1.6 per step.
    Reports reports = Reports.of(JOB).gradient(1, 3);
    for (int second = 0; second <= 10; second++) {
      history.reported(
          JOB,
          reports.step(second * 5L).loss(2.0 - second * 0.1),
          Optional.empty(),
          START.plusSeconds(second));
    }

    Sample last = story(JOB).samples().getLast();

    assertThat(last.throughput()).isCloseTo(5 * 64, within(1e-9));
    assertThat(last.goodput()).isCloseTo(5 * 1.6 * 32, within(1e-9));
    assertThat(last.efficiency()).isCloseTo(0.8, within(1e-9));
    assertThat(last.goodput()).isCloseTo(last.throughput() * last.efficiency(), within(1e-9));
    assertThat(last.loss()).isCloseTo(1.0, within(1e-9));
    assertThat(last.globalBatch()).isEqualTo(64);
    assertThat(last.step()).isEqualTo(50);
    assertThat(last.stepsPerSecond()).isCloseTo(5, within(1e-9));
    assertThat(last.noiseScale()).isCloseTo(96, within(1e-9));
    assertThat(last.learningRate()).isEqualTo(0.05);
    assertThat(history.latest(JOB).progress().orElseThrow().step()).isEqualTo(50);
  }

  @Test
  void doesNotKnowRatesAfterAStartFromACheckpoint() {
    Reports reports = Reports.of(JOB);
    history.reported(JOB, reports.step(100).loss(1.0), Optional.empty(), START);
    history.reported(JOB, reports.step(60).loss(null), Optional.empty(), START.plusSeconds(5));

    Sample last = story(JOB).samples().getLast();

    assertThat(last.throughput()).isNaN();
    assertThat(last.goodput()).isNaN();
    assertThat(last.loss()).isNaN();
  }

  @Test
  void boundsSamplesAndKeepsFirstAndNewest() {
    for (int i = 0; i < 20_000; i++) {
      history.reported(
          JOB, Reports.of(JOB).step(i).loss(1.0), Optional.empty(), START.plusSeconds(i));
    }

    List<Sample> samples = story(JOB).samples();

    assertThat(samples).hasSizeBetween(250, JobTrack.MOST_SAMPLES);
    assertThat(samples.getFirst().at()).isEqualTo(START);
    assertThat(samples.getLast().at()).isEqualTo(START.plusSeconds(19_999));
  }

  @Test
  void endsWithThePhaseAndIgnoresWhatComesAfter() {
    history.allocated(JOB, Allocation.on("n1", 2), REASON, START);
    history.phase(JOB, Phase.Succeeded, START.plusSeconds(60));
    history.allocated(JOB, Allocation.NONE, REASON, START.plusSeconds(61));

    assertThat(story(JOB).ended()).isEqualTo(START.plusSeconds(60));
    assertThat(story(JOB).segments())
        .singleElement()
        .extracting(Segment::to)
        .isEqualTo(START.plusSeconds(60));
  }

  @Test
  void beginsANewStoryWhenADeletedJobComesBack() {
    history.allocated(JOB, Allocation.on("n1", 2), REASON, START);
    history.deleted(JOB, START.plusSeconds(5));
    history.reported(JOB, Reports.of(JOB).loss(1.0), Optional.empty(), START.plusSeconds(6));
    assertThat(story(JOB).deleted()).isTrue();
    assertThat(story(JOB).samples()).isEmpty();

    history.created(JOB, START.plusSeconds(7));
    history.reported(JOB, Reports.of(JOB).loss(1.0), Optional.empty(), START.plusSeconds(8));

    assertThat(story(JOB).deleted()).isFalse();
    assertThat(story(JOB).segments()).isEmpty();
    assertThat(story(JOB).samples()).hasSize(1);
  }

  @Test
  void forgetsTheJobsThatEndedFirst() {
    for (int i = 0; i < JobHistory.MOST_ENDED + 20; i++) {
      history.phase(new JobId("default", "job-" + i), Phase.Succeeded, START.plusSeconds(i));
    }
    history.allocated(JOB, Allocation.on("n1", 1), REASON, START);

    assertThat(history.story(new JobId("default", "job-19"))).isEmpty();
    assertThat(history.story(new JobId("default", "job-20"))).isPresent();
    assertThat(history.story(JOB)).isPresent();
  }

  @Test
  void manyEndedJobsOfOneNamespacePushOutItsOwnAlone() {
    JobId other = new JobId("other", "job");
    history.phase(other, Phase.Succeeded, START);
    for (int i = 0; i < 2 * JobHistory.MOST_ENDED; i++) {
      history.phase(new JobId("default", "job-" + i), Phase.Succeeded, START.plusSeconds(i));
    }
    assertThat(history.story(other)).isPresent();
    assertThat(history.story(new JobId("default", "job-0"))).isEmpty();
  }

  @Test
  void forgetsTheMostSilentJobsWhenThereAreTooMany() {
    for (int i = 0; i <= JobHistory.MOST_JOBS; i++) {
      history.phase(new JobId("default", "job-" + i), Phase.Running, START.plusSeconds(i));
    }

    assertThat(history.story(new JobId("default", "job-0"))).isEmpty();
    assertThat(history.story(new JobId("default", "job-1000"))).isPresent();
  }

  @Test
  void remembersMoreCoarselyTheMoreJobsThereAre() {
    for (int i = 0; i < 10_000; i++) {
      history.created(new JobId("default", "job-" + i), START);
    }
    for (int i = 0; i < 100; i++) {
      history.reported(
          JOB, Reports.of(JOB).step(i).loss(1.0), Optional.empty(), START.plusSeconds(i));
    }

    assertThat(story(JOB).samples()).hasSizeBetween(5, 10);
  }

  @Test
  void whoCameFirstGivesWayToo() {
    for (int i = 0; i < 100; i++) {
      history.reported(
          JOB, Reports.of(JOB).step(i).loss(1.0), Optional.empty(), START.plusSeconds(i));
    }
    assertThat(story(JOB).samples()).hasSize(100);
    for (int i = 0; i < 10_000; i++) {
      history.created(new JobId("default", "job-" + i), START);
    }
    history.reported(
        JOB, Reports.of(JOB).step(100).loss(1.0), Optional.empty(), START.plusSeconds(100));

    assertThat(story(JOB).samples()).hasSizeBetween(5, 10);
    assertThat(story(JOB).samples().getFirst().at()).isEqualTo(START);
    assertThat(story(JOB).samples().getLast().at()).isEqualTo(START.plusSeconds(100));
  }

  @Test
  void whatIsLoggedSeldomIsNotThinnedOutWithWhatIsLoggedOften() {
    for (int i = 0; i < 5000; i++) {
      report(i, i % 1000 == 0 ? Map.of("lr", 0.1, "val/acc", i / 1e4) : Map.of("lr", 0.1));
    }

    assertThat(story(JOB).scalars().keySet()).containsExactly("lr", "val/acc");
    assertThat(story(JOB).scalars().get("val/acc"))
        .containsExactly(
            point(0, 0), point(1000, 0.1), point(2000, 0.2), point(3000, 0.3), point(4000, 0.4));
    List<ScalarPoint> often = requireNonNull(story(JOB).scalars().get("lr"));
    assertThat(often).hasSizeBetween(250, ScalarSeries.MOST_POINTS);
    assertThat(often.getFirst()).isEqualTo(point(0, 0.1));
    assertThat(often.getLast()).isEqualTo(point(4999, 0.1));
  }

  @Test
  void keepsTheScalarsThatCameFirstWhereThereAreTooMany() {
    report(0, Map.of("first", 1.0));
    for (int i = 1; i <= 2 * Scalars.MOST; i++) {
      report(i, Map.of("other-" + i, 1.0));
    }
    report(500, Map.of("first", 2.0));

    assertThat(story(JOB).scalars()).hasSize(Scalars.MOST).doesNotContainKey("other-64");
    assertThat(story(JOB).scalars().get("first")).containsExactly(point(0, 1), point(500, 2));
  }

  @Test
  void remembersFewerScalarsTheMoreJobsThereAre() {
    for (int i = 0; i < 100; i++) {
      report(i, names(Scalars.MOST));
    }
    assertThat(pointsOfAllNames()).isEqualTo(100L * Scalars.MOST);
    for (int i = 0; i < 10_000; i++) {
      history.created(new JobId("default", "job-" + i), START);
    }
    report(100, names(Scalars.MOST));

    assertThat(pointsOfAllNames()).isBetween(1L, 20L);
    assertThat(story(JOB).scalars()).hasSizeBetween(1, 5).containsKey("s0");
    assertThat(requireNonNull(story(JOB).scalars().get("s0")).getLast()).isEqualTo(point(100, 1));
  }

  @Test
  void aRestartedJobGoesOnWithItsSeriesAndANewOneBeginsAnew() {
    report(100, Map.of("acc", 0.5));
    history.allocated(JOB, Allocation.NONE, REASON, START.plusSeconds(101));
    history.reported(
        JOB,
        Reports.of(JOB).step(60).logged(1.0, Map.of("acc", 0.4)),
        Optional.empty(),
        START.plusSeconds(110));
    assertThat(story(JOB).scalars().get("acc"))
        .extracting(ScalarPoint::step)
        .containsExactly(100L, 60L);

    history.deleted(JOB, START.plusSeconds(120));
    history.created(JOB, START.plusSeconds(121));

    assertThat(story(JOB).scalars()).isEmpty();
  }

  private void report(int second, Map<String, Double> scalars) {
    history.reported(
        JOB,
        Reports.of(JOB).step(second).logged(1.0, scalars),
        Optional.empty(),
        START.plusSeconds(second));
  }

  private static Map<String, Double> names(int count) {
    return IntStream.range(0, count).boxed().collect(Collectors.toMap(i -> "s" + i, i -> 1.0));
  }

  private long pointsOfAllNames() {
    return story(JOB).scalars().values().stream().mapToLong(List::size).sum();
  }

  private static ScalarPoint point(int second, double value) {
    return new ScalarPoint(START.plusSeconds(second).toEpochMilli(), second, value);
  }

  @Tag("slow")
  @Test
  void takesEventsFromManyThreads() throws InterruptedException, ExecutionException {
    try (var threads = Executors.newFixedThreadPool(4)) {
      List<Future<?>> running =
          IntStream.range(0, 4)
              .<Future<?>>mapToObj(thread ->
                  threads.submit(() -> {
                    for (int i = 0; i < 2000; i++) {
                      Instant at = START.plusMillis(i);
                      history.allocated(JOB, Allocation.on("n" + thread, 1 + i % 3), REASON, at);
                      history.reported(
                          JOB, Reports.of(JOB).step(i).loss(1.0), Optional.empty(), at);
                      history.timelines();
                      history.story(JOB);
                    }
                  }))
              .toList();
      for (Future<?> future : running) {
        future.get();
      }
    }

    assertThat(story(JOB).samples()).hasSizeLessThanOrEqualTo(JobTrack.MOST_SAMPLES);
    assertThat(story(JOB).segments()).hasSizeLessThanOrEqualTo(JobTrack.MOST_SEGMENTS);
  }

  private JobStory story(JobId job) {
    return history.story(job).orElseThrow();
  }
}
