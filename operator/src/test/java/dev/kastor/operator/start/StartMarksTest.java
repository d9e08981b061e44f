package dev.kastor.operator.start;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.start.StartPhase;
import dev.kastor.crds.start.StartTimes;
import dev.kastor.protocol.ReplicaStart;
import dev.kastor.protocol.ReplicaStart.Source;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class StartMarksTest {
  private static final Instant BEGIN = Instant.parse("2026-11-26T12:00:00Z");
  private static final Optional<ReplicaStart> SAID =
      Optional.of(new ReplicaStart(Source.PEERS, 200, 400));
  private static final PodTimes POD = new PodTimes(at(0), at(1200));

  /** Heard at 2 s, ready at 5.1 s, told at 5.2 s, a member at 5.5 s. */
  private static final StartMarks MARKS =
      StartMarks.heard(instant(2000))
          .ready(instant(5100))
          .told(instant(5200))
          .joined(instant(5500));

  @Test
  void partsAddUpToTheWhole() {
    StartTimes times = times(MARKS, POD, SAID, 6000);
    assertThat(times.text())
        .isEqualTo(
            "bert-2 2026-11-26T12:00:05.900Z image=1200 process=800 preparation=3100 wait=200"
                + " state=200 first-step=400 from=peers total=5900");
    assertThat(sum(times)).isEqualTo(5900);
  }

  @Test
  void onlyTheFirstTimeThatAReplicaIsReadyCounts() {
    assertThat(times(MARKS.ready(instant(5300)), POD, SAID, 6000))
        .isEqualTo(times(MARKS, POD, SAID, 6000));
  }

  @Test
  void aClientThatDoesNotSayHowItEndedHasNoLastParts() {
    StartTimes times = times(MARKS, POD, Optional.empty(), 5500);
    assertThat(times.millis().keySet())
        .containsExactly(StartPhase.IMAGE, StartPhase.PROCESS, StartPhase.PREPARATION);
    assertThat(times.total()).isEmpty();
    assertThat(times.source()).isEmpty();
  }

  @Test
  void aPodThatTellsNoTimesLeavesItsPartsUnknown() {
    StartTimes times = times(MARKS, PodTimes.UNKNOWN, SAID, 6000);
    assertThat(times.millis().keySet())
        .containsExactly(StartPhase.WAIT, StartPhase.STATE, StartPhase.FIRST_STEP);
    assertThat(times.total()).isEmpty();
    StartTimes scheduled = times(MARKS, new PodTimes(at(0), Optional.empty()), SAID, 6000);
    assertThat(scheduled.total()).isEqualTo(OptionalLong.of(5900));
    assertThat(scheduled.millis()).doesNotContainKeys(StartPhase.IMAGE, StartPhase.PROCESS);
  }

  @Test
  void aProcessThatBeganBeforeTheOperatorListenedMayHaveSpokenToAnother() {
    StartTimes times = MARKS.times("bert-2", POD, instant(1300), SAID, instant(6000));
    assertThat(times.millis()).doesNotContainKeys(StartPhase.PROCESS, StartPhase.PREPARATION);
    assertThat(times.millis()).containsKeys(StartPhase.IMAGE, StartPhase.STATE);
  }

  @Test
  void whatAReplicaClaimsIsCutToWhatWasSeen() {
    Optional<ReplicaStart> claim =
        Optional.of(new ReplicaStart(Source.CHECKPOINT, ReplicaStart.MOST_MILLIS, 90_000_000));
    StartTimes times = times(MARKS, POD, claim, 6000);
    assertThat(times.millis())
        .containsEntry(StartPhase.STATE, 0L)
        .containsEntry(StartPhase.FIRST_STEP, 800L);
    assertThat(sum(times)).isEqualTo(6000).isEqualTo(times.total().orElseThrow());
  }

  @Test
  void aFirstStepMayBeOverBeforeAReplicaIsHeardAsAMember() {
    StartTimes times = times(MARKS.joined(instant(6000)), POD, SAID, 6000);
    assertThat(times.millis())
        .containsEntry(StartPhase.WAIT, 300L)
        .containsEntry(StartPhase.STATE, 200L)
        .containsEntry(StartPhase.FIRST_STEP, 400L);
    assertThat(times.total()).hasValue(6000);
  }

  @Test
  void timesInAnyOrderGiveNoNegativePartAndNoMoreThanTheWhole() {
    RandomGenerator random = new SplittableRandom(17);
    for (int i = 0; i < 20_000; i++) {
      StartMarks marks = StartMarks.heard(random(random));
      marks = random.nextBoolean() ? marks.ready(random(random)) : marks;
      marks = random.nextBoolean() ? marks.told(random(random)) : marks;
      marks = random.nextBoolean() ? marks.joined(random(random)) : marks;
      PodTimes pod = new PodTimes(perhaps(random), perhaps(random));
      Optional<ReplicaStart> said =
          random.nextBoolean()
              ? Optional.empty()
              : Optional.of(
                  new ReplicaStart(Source.INITIAL, random.nextInt(9000), random.nextInt(9000)));
      StartTimes times = marks.times("bert-2", pod, random(random), said, random(random));
      assertThat(times.millis().values()).as("%s %s %s", marks, pod, said).allMatch(m -> m >= 0);
      if (times.total().isPresent()) {
        long total = times.total().getAsLong();
        if (times.millis().size() == StartPhase.values().length) {
          assertThat(sum(times)).as("%s %s %s", marks, pod, said).isEqualTo(total);
        } else {
          assertThat(sum(times)).as("%s %s %s", marks, pod, said).isLessThanOrEqualTo(total);
        }
      }
    }
  }

  @Test
  void aPodTellsWhenItWasScheduledAndRan() {
    Pod pod =
        new PodBuilder()
            .withNewStatus()
            .addNewCondition()
            .withType("PodScheduled")
            .withStatus("True")
            .withLastTransitionTime("2026-11-26T12:00:00Z")
            .endCondition()
            .addNewContainerStatus()
            .withName("a-sidecar")
            .withNewState()
            .withNewRunning("2026-11-26T12:00:01Z")
            .endState()
            .endContainerStatus()
            .addNewContainerStatus()
            .withName("worker")
            .withNewState()
            .withNewRunning("2026-11-26T12:00:03Z")
            .endState()
            .endContainerStatus()
            .addNewContainerStatus()
            .withName("waits")
            .withNewState()
            .withNewWaiting("later", "ContainerCreating")
            .endState()
            .endContainerStatus()
            .endStatus()
            .build();
    assertThat(PodTimes.of(pod)).isEqualTo(new PodTimes(at(0), at(3000)));
    assertThat(PodTimes.of(new PodBuilder().build())).isEqualTo(PodTimes.UNKNOWN);
    assertThat(List.of(PodTimes.of(new PodBuilder().withNewStatus().endStatus().build())))
        .containsExactly(PodTimes.UNKNOWN);
  }

  private static StartTimes times(
      StartMarks marks, PodTimes pod, Optional<ReplicaStart> said, int nowMillis) {
    return marks.times("bert-2", pod, BEGIN, said, instant(nowMillis));
  }

  private static long sum(StartTimes times) {
    return times.millis().values().stream().mapToLong(Long::longValue).sum();
  }

  private static Optional<Instant> perhaps(RandomGenerator random) {
    return random.nextInt(4) == 0 ? Optional.empty() : Optional.of(random(random));
  }

  private static Instant random(RandomGenerator random) {
    return BEGIN.plusNanos(random.nextLong(10_000_000_000L));
  }

  private static Optional<Instant> at(int millis) {
    return Optional.of(instant(millis));
  }

  private static Instant instant(int millis) {
    return BEGIN.plusMillis(millis);
  }
}
