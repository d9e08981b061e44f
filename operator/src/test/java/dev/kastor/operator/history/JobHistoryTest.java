package dev.kastor.operator.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.Reason;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
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
