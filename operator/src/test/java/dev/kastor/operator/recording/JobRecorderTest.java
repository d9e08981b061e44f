package dev.kastor.operator.recording;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.Progress;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.goodput.Measured;
import dev.kastor.scheduler.goodput.Outlook;
import dev.kastor.scheduler.live.RecordedJob;
import dev.kastor.scheduler.live.RecordedJob.End;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Reason;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class JobRecorderTest {
  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");
  private static final Duration WAITED = Duration.ofSeconds(60);
  private static final Reason REASON = Reason.of("Started", "");

  private final JobRecorder recorder = new JobRecorder(4, 1 << 20);
  private final Map<JobId, JobRecorder.Absence> absences = new HashMap<>();
  private final Map<JobId, Measured> measured = new HashMap<>();

  private record Sighting(JobState state) implements JobRecorder.Seen {
    @Override
    public String family() {
      return "team/family";
    }
  }

  private static JobId id(String name) {
    return new JobId("team", name);
  }

  private static Sighting job(String name, Instant submitted, Allocation holds, double done) {
    return new Sighting(
        new JobState(
            new JobSpec(
                    id(name),
                    submitted,
                    new Elasticity.Rigid(1),
                    new BatchLimits(64, 64, 1, 64, true),
                    "")
                .declaring(100),
            holds,
            Optional.empty(),
            1,
            done == 0 ? Optional.empty() : Optional.of(progress(done)),
            Duration.ZERO,
            0,
            0,
            Duration.ofSeconds(2),
            Duration.ofSeconds(15),
            Duration.ZERO,
            false,
            false,
            Outlook.NONE,
            Optional.empty()));
  }

  private static Progress progress(double done) {
    return new Progress((long) done, done, 100, 0, 0);
  }

  private void round(int second, Sighting... jobs) {
    round(recorder, second, List.of(new Node("n", "t4", 4)), Arrays.asList(jobs));
  }

  private void round(JobRecorder some, int second, List<Node> nodes, List<Sighting> jobs) {
    Instant now = NOW.plusSeconds(second);
    for (JobRecorder.Unlisted each : some.round(now, nodes, jobs, WAITED)) {
      some.absent(
          each.job(),
          absences.getOrDefault(each.job(), JobRecorder.Absence.GONE),
          Optional.ofNullable(measured.get(each.job())),
          now);
    }
  }

  private List<RecordedJob> jobs() {
    return recorder.recorded(NOW.plusSeconds(10_000), measured).jobs();
  }

  private void finished(String name, int second) {
    recorder.phase(id(name), Phase.Succeeded, NOW.plusSeconds(second));
    round(second + 1);
  }

  @Test
  void keepsAJobFromItsArrivalToItsEnd() {
    round(0);
    round(10, job("a", NOW.plusSeconds(9), Allocation.NONE, 0));
    recorder.allocated(id("a"), Allocation.on("n", 2), REASON, NOW.plusSeconds(11));
    round(40, job("a", NOW.plusSeconds(9), Allocation.on("n", 2), 40));
    measured.put(
        id("a"),
        new Measured(
            Optional.empty(),
            2,
            Optional.of(progress(100)),
            Optional.of(Duration.ofSeconds(3)),
            Optional.of(Duration.ofSeconds(5)),
            Optional.empty(),
            Outlook.NONE));
    finished("a", 80);
    assertThat(jobs()).hasSize(1);
    RecordedJob job = jobs().getFirst();
    assertThat(job.arrived()).isEqualTo("2026-03-01T12:00:09Z");
    assertThat(job.ended()).isEqualTo("2026-03-01T12:01:20Z");
    assertThat(job.end()).isEqualTo(End.COMPLETED);
    assertThat(job.whole()).isTrue();
    assertThat(job.doneBefore()).isZero();
    assertThat(job.held()).hasSize(1);
    assertThat(job.held().getFirst().nodes()).containsExactly(Map.entry("n", 2));
    assertThat(job.job().spec().family()).isEqualTo("team/family");
    assertThat(job.job().declaredSteps()).isEqualTo(100);
    assertThat(job.job().progress()).isEqualTo(progress(100));
    assertThat(job.job().rescaleCost()).isEqualTo("PT3S");
    assertThat(job.job().restartCost()).isEqualTo("PT5S");
  }

  @Test
  void whatRanBeforeIsNotWhole() {
    round(1000, job("old", NOW, Allocation.on("n", 1), 30));
    finished("old", 2000);
    RecordedJob job = jobs().getFirst();
    assertThat(job.whole()).isFalse();
    assertThat(job.doneBefore()).isEqualTo(30);
    assertThat(job.arrived()).isEqualTo("2026-03-01T12:16:40Z");
    assertThat(job.held()).hasSize(1);
  }

  @Test
  void aSuspendedJobIsNotWhole() {
    round(0, job("a", NOW, Allocation.NONE, 0));
    absences.put(id("a"), JobRecorder.Absence.WAITS);
    round(30);
    round(60, job("a", NOW, Allocation.NONE, 0));
    assertThat(jobs().getFirst().whole()).isFalse();
    assertThat(jobs().getFirst().ended()).isNull();
  }

  @Test
  void aRoundThatIsOlderThanAJobTellsNothingOfIt() {
    recorder.served(NOW, List.of(job("a", NOW, Allocation.NONE, 0)), WAITED);
    absences.put(id("a"), JobRecorder.Absence.NONE);
    round(1);
    assertThat(jobs().getFirst().whole()).isTrue();
    assertThat(jobs().getFirst().end()).isEqualTo(End.UNFINISHED);
  }

  @Test
  void aDeletedJobWasKilledAndAnotherOfItsNameIsAnother() {
    round(0, job("a", NOW, Allocation.NONE, 0));
    round(30, job("a", NOW.plusSeconds(20), Allocation.NONE, 0));
    round(60);
    assertThat(jobs()).extracting(RecordedJob::end).containsExactly(End.KILLED, End.KILLED);
    assertThat(jobs())
        .extracting(RecordedJob::ended)
        .containsExactly("2026-03-01T12:00:30Z", "2026-03-01T12:01:00Z");
  }

  @Test
  void theOldestEndedGoFirst() {
    for (int n = 0; n < 6; n++) {
      round(100 * n, job("j" + n, NOW.plusSeconds(100L * n), Allocation.NONE, 0));
      finished("j" + n, 100 * n + 50);
    }
    assertThat(jobs())
        .extracting(job -> job.job().spec().name())
        .containsExactly("j2", "j3", "j4", "j5");
    assertThat(recorder.recorded(NOW, measured).forgotten()).isEqualTo(2);
    round(
        700,
        job("k0", NOW, Allocation.NONE, 0),
        job("k1", NOW, Allocation.NONE, 0),
        job("k2", NOW, Allocation.NONE, 0),
        job("k3", NOW, Allocation.NONE, 0),
        job("k4", NOW, Allocation.NONE, 0));
    assertThat(jobs()).as("no more than there is space for").hasSize(4);
  }

  @Test
  void bytesAreBounded() {
    JobRecorder small = new JobRecorder(1000, 5000);
    for (int n = 0; n < 100; n++) {
      Instant at = NOW.plusSeconds(n);
      round(small, n, List.of(), List.of(job("j" + n, at, Allocation.NONE, 0)));
      small.phase(id("j" + n), Phase.Failed, at);
    }
    round(small, 200, List.of(), List.of());
    JobRecorder.Recorded recorded = small.recorded(NOW, measured);
    assertThat(recorded.jobs()).hasSizeBetween(2, 8).allMatch(job -> job.end() == End.FAILED);
    assertThat(recorded.jobs().size() + recorded.forgotten()).isEqualTo(100);
  }

  @Test
  void noiseAndChangesOfAJobAreBounded() {
    round(0, job("a", NOW, Allocation.NONE, 0));
    for (int n = 0; n < 1000; n++) {
      recorder.allocated(id("a"), Allocation.on("n", 1 + n % 2), REASON, NOW.plusSeconds(n));
    }
    RecordedTrack track = new RecordedTrack();
    track.begin(job("a", NOW, Allocation.NONE, 0).state(), "", WAITED, NOW);
    for (int n = 0; n < 1000; n++) {
      track.reported(n, new GradientStats(1, n, 64).noiseScale());
    }
    track.reported(1000, Double.POSITIVE_INFINITY);
    RecordedJob job = jobs().getFirst();
    assertThat(job.held()).hasSize(200);
    assertThat(job.forgottenChanges()).isEqualTo(800);
    assertThat(track.document(Optional.empty()).noise()).hasSizeBetween(30, 65);
  }

  @Test
  void nodesComeAndGo() {
    Node n = new Node("n", "t4", 2);
    round(recorder, 0, List.of(n, new Node("m", "t4", 4)), List.of());
    round(recorder, 10, List.of(new Node("n", "t4", 4)), List.of());
    round(recorder, 20, List.of(n, new Node("m", "t4", 4)), List.of());
    assertThat(recorder.recorded(NOW, measured).nodes())
        .extracting(span -> span.node().name() + span.node().slots() + " " + span.until())
        .containsExactlyInAnyOrder("m4 2026-03-01T12:00:10Z", "n4 null", "m4 null");
  }
}
