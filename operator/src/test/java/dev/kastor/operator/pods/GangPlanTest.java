package dev.kastor.operator.pods;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.pods.PodView.State;
import dev.kastor.scheduler.model.Allocation;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class GangPlanTest {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final Allocation THREE = Allocation.on("n1", 3);

  @Test
  void nothingIsMadeWithoutSlots() {
    assertThat(GangPlan.of(Allocation.NONE, List.of())).isEqualTo(new GangPlan.Keep());
    assertThat(GangPlan.of(THREE, List.of()))
        .isEqualTo(new GangPlan.Create(Optional.empty(), List.of(0, 1, 2)));
  }

  @Test
  void aStartThatWasBrokenOffGoesOnWhileAllPodsAreGated() {
    List<GangPod> two = List.of(pod(3, 3, State.PENDING, true), pod(5, 3, State.PENDING, true));
    assertThat(GangPlan.of(THREE, two)).isEqualTo(new GangPlan.Create(Optional.of(3L), List.of(1)));
    List<GangPod> three = new ArrayList<>(two);
    three.add(pod(4, 3, State.PENDING, true));
    assertThat(GangPlan.of(THREE, three))
        .isInstanceOfSatisfying(GangPlan.Open.class, open -> assertThat(open.pods()).hasSize(3));
  }

  @Test
  void whatIsMissingOnceOneWasLetGoBreaksTheGang() {
    List<GangPod> two = List.of(pod(0, 0, State.RUNNING, false), pod(2, 0, State.RUNNING, false));
    assertThat(GangPlan.of(THREE, two))
        .isInstanceOfSatisfying(
            GangPlan.Clear.class,
            clear -> {
              assertThat(clear.pods()).hasSize(2);
              assertThat(clear.why())
                  .hasValue(new GangPlan.Fault("pods of ranks [1] are gone", false));
            });
  }

  @Test
  void aFailureClearsAllButItsCauseAndThenStartsAnew() {
    List<GangPod> gang =
        List.of(
            pod(0, 0, State.SUCCEEDED, false),
            pod(1, 0, State.FAILED, false),
            pod(2, 0, State.RUNNING, false));
    assertThat(GangPlan.of(THREE, gang))
        .isInstanceOfSatisfying(
            GangPlan.Clear.class,
            clear -> assertThat(clear.pods()).extracting(PodView::number).containsExactly(0L, 2L));
    assertThat(GangPlan.failures(gang).count()).isEqualTo(1);
    assertThat(GangPlan.of(THREE, List.of(gang.get(1))))
        .isEqualTo(new GangPlan.Create(Optional.empty(), List.of(0, 1, 2)));
  }

  @Test
  void manyPodsThatFailTogetherAreOneFailure() {
    List<GangPod> gang =
        List.of(
            pod(0, 0, State.FAILED, false),
            pod(1, 0, State.FAILED, false),
            pod(4, 3, State.FAILED, false));
    assertThat(GangPlan.failures(gang).count()).isEqualTo(2);
  }

  @Test
  void aGangThatMovesStartsAgain() {
    List<GangPod> gang =
        List.of(
            pod(0, 0, State.RUNNING, false),
            pod(1, 0, State.RUNNING, false),
            pod(2, 0, State.RUNNING, false));
    assertThat(GangPlan.of(THREE, gang)).isEqualTo(new GangPlan.Keep());
    assertThat(GangPlan.of(Allocation.on("n2", 3), gang)).isInstanceOf(GangPlan.Clear.class);
    assertThat(GangPlan.of(Allocation.on("n1", 4), gang)).isInstanceOf(GangPlan.Clear.class);
    assertThat(GangPlan.of(Allocation.NONE, gang)).isInstanceOf(GangPlan.Clear.class);
  }

  /**
   * Two of three go at once, one lingers; the next start has as many pods as it is to have then.
   */
  @Test
  void aGangOfAnotherSizeIsMadeOnceTheLastPodIsGone() {
    List<GangPod> three =
        List.of(
            pod(0, 0, State.RUNNING, false),
            pod(1, 0, State.RUNNING, false),
            pod(2, 0, State.RUNNING, false));
    Allocation two = Allocation.on("n1", 2);
    assertThat(GangPlan.of(two, three))
        .isInstanceOfSatisfying(
            GangPlan.Clear.class,
            clear -> {
              assertThat(clear.pods()).hasSize(3);
              assertThat(clear.why().orElseThrow().decided()).isTrue();
              assertThat(clear.why().orElseThrow().message()).contains("{n1=3} to {n1=2}");
            });
    List<GangPod> leaving = List.of(leaving(2));
    assertThat(GangPlan.of(two, leaving))
        .as("another size again meanwhile")
        .isEqualTo(new GangPlan.Clear(List.of(), Optional.empty()));
    assertThat(GangPlan.of(Allocation.on("n1", 5), leaving))
        .isEqualTo(new GangPlan.Clear(List.of(), Optional.empty()));
    assertThat(GangPlan.of(Allocation.on("n1", 5), List.of()))
        .isEqualTo(new GangPlan.Create(Optional.empty(), List.of(0, 1, 2, 3, 4)));
  }

  @Test
  void podsThatLeaveForAnotherSizeWereNotDeletedByAnybodyElse() {
    List<GangPod> gang =
        List.of(leaving(0), pod(1, 0, State.RUNNING, false), pod(2, 0, State.RUNNING, false));
    assertThat(GangPlan.of(Allocation.on("n1", 4), gang))
        .isInstanceOfSatisfying(
            GangPlan.Clear.class,
            clear -> {
              assertThat(clear.pods()).extracting(PodView::number).containsExactly(1L, 2L);
              assertThat(clear.why())
                  .hasValueSatisfying(why -> assertThat(why.decided()).as(why.message()).isTrue());
            });
    assertThat(GangPlan.of(THREE, gang))
        .isInstanceOfSatisfying(
            GangPlan.Clear.class,
            clear ->
                assertThat(clear.why())
                    .hasValue(new GangPlan.Fault("pod job-0 is being deleted", false)));
  }

  @Test
  void aGangThatMovesNeedsWhatItDoesNotHoldYet() {
    List<GangPod> two = List.of(pod(0, 0, State.RUNNING, false), pod(1, 0, State.RUNNING, false));
    assertThat(GangPlan.missingSlots(Allocation.on("n1", 4), two)).isEqualTo(Map.of("n1", 2));
    assertThat(GangPlan.missingSlots(Allocation.on("n1", 1), two)).isEmpty();
    assertThat(GangPlan.missingSlots(Allocation.on("n2", 2), two)).isEqualTo(Map.of("n2", 2));
    List<GangPod> done = List.of(pod(0, 0, State.FAILED, false), leaving(1));
    assertThat(GangPlan.missingSlots(Allocation.on("n1", 2), done)).isEqualTo(Map.of("n1", 1));
  }

  @Test
  void aStartIsKnownByItsRanksOnceAllOfItsPodsWereMade() {
    List<GangPod> two = List.of(pod(4, 3, State.RUNNING, false), pod(3, 3, State.PENDING, false));
    assertThat(GangPlan.newestStart(two)).isEmpty();
    List<GangPod> all = new ArrayList<>(two);
    all.add(pod(0, 0, State.FAILED, false));
    all.add(pod(5, 3, State.RUNNING, false));
    assertThat(GangPlan.newestStart(all))
        .extracting(pod -> pod.view().number())
        .containsExactly(3L, 4L, 5L);
  }

  @Test
  void itSucceedsWhenAllRanksDidWhateverItsTarget() {
    List<GangPod> gang =
        List.of(
            pod(0, 0, State.SUCCEEDED, false),
            pod(1, 0, State.SUCCEEDED, false),
            pod(2, 0, State.SUCCEEDED, false));
    assertThat(GangPlan.of(Allocation.NONE, gang)).isEqualTo(new GangPlan.Succeeded(3));
    assertThat(GangPlan.of(THREE, gang.subList(0, 2))).isNotInstanceOf(GangPlan.Succeeded.class);
  }

  @Test
  void whoEndsBecauseItWasToldToHasNeitherSucceededNorFailed() {
    String asked = "2026-01-01T00:00:30Z";
    List<GangPod> stopped = List.of(ended(0, "Succeeded", asked), ended(1, "Succeeded", asked));
    assertThat(GangPlan.of(Allocation.NONE, stopped)).isEqualTo(new GangPlan.Keep());
    assertThat(GangPlan.of(THREE, stopped)).isInstanceOf(GangPlan.Create.class);
    List<GangPod> killed = List.of(ended(0, "Failed", asked), ended(1, "Failed", asked));
    assertThat(GangPlan.failures(killed).count()).isZero();
  }

  @Test
  void whoWasToldToEndHasNotSucceededOnceItsKubeletLetsThePodGo() {
    // The kubelet takes the grace away when all containers have ended, and the time becomes its
    // own.
    List<GangPod> gone =
        Stream.of(0, 1)
            .map(number -> ended(number, "Succeeded", "2026-01-01T00:00:02Z", 0))
            .toList();
    assertThat(GangPlan.of(Allocation.NONE, gone)).isEqualTo(new GangPlan.Keep());
  }

  @Test
  void whoEndedBeforeItsPodWasDeletedCounts() {
    String later = "2026-01-01T00:00:31Z";
    List<GangPod> done = List.of(ended(0, "Succeeded", later), ended(1, "Succeeded", later));
    assertThat(GangPlan.of(Allocation.NONE, done)).isEqualTo(new GangPlan.Succeeded(2));
    assertThat(GangPlan.of(THREE, List.of(ended(0, "Succeeded", later))))
        .isInstanceOf(GangPlan.Create.class);
  }

  @Test
  void aSizeThatNobodyGaveCostsAStartAndNoMemory() {
    List<GangPod> gang =
        LongStream.range(0, 3)
            .mapToObj(number -> pod(number, 0, State.RUNNING, false))
            .map(pod -> new GangPod(pod.view(), 0, Integer.MAX_VALUE, false, false))
            .toList();
    assertThat(GangPlan.of(THREE, gang))
        .isInstanceOfSatisfying(
            GangPlan.Clear.class,
            clear ->
                assertThat(clear.why())
                    .hasValueSatisfying(
                        why -> assertThat(why.message()).startsWith("its place changed")));
    assertThat(GangPlan.training(gang)).isZero();
  }

  @Test
  void allOrNoneTrain() {
    List<GangPod> gang =
        List.of(
            pod(0, 0, State.SUCCEEDED, false),
            pod(1, 0, State.RUNNING, false),
            pod(2, 0, State.PENDING, false));
    assertThat(GangPlan.training(gang)).isZero();
    List<GangPod> all = new ArrayList<>(gang.subList(0, 2));
    all.add(pod(2, 0, State.RUNNING, false));
    assertThat(GangPlan.training(all)).isEqualTo(3);
  }

  @Test
  void aStartThatWasNeverMadeIsOneOfItsOwn() {
    assertThat(claiming("0", "3").size()).isEqualTo(3);
    for (GangPod forged :
        List.of(
            claiming("0", "2147483647"),
            claiming("0", "999999999"),
            claiming("0", "4"),
            claiming("0", "1"),
            claiming("2", "1"))) {
      assertThat(forged.first()).isEqualTo(1);
      assertThat(forged.size()).isZero();
    }
    assertThat(GangPlan.of(THREE, List.of(claiming("0", "2147483647"))))
        .isInstanceOf(GangPlan.Clear.class);
  }

  /** Pod 1 of a job that was given three numbers. */
  private static GangPod claiming(String first, String size) {
    Pod pod =
        new PodBuilder()
            .withNewMetadata()
            .withName("job-1")
            .addToAnnotations(Labels.GANG_FIRST, first)
            .addToAnnotations(Labels.GANG_SIZE, size)
            .endMetadata()
            .withNewSpec()
            .withNodeName("n1")
            .endSpec()
            .withNewStatus()
            .withPhase("Running")
            .endStatus()
            .build();
    return GangPod.of(pod, 3);
  }

  private static GangPod pod(long number, long first, State state, boolean gated) {
    PodView view =
        new PodView(
            "job-" + number,
            number,
            "n1",
            state,
            false,
            START,
            START.plusSeconds(number),
            state == State.FAILED ? 1 : 0,
            Optional.empty());
    return new GangPod(view, first, 3, gated, false);
  }

  private static GangPod leaving(long number) {
    GangPod runs = pod(number, 0, State.RUNNING, false);
    PodView view = runs.view();
    return new GangPod(
        new PodView(
            view.name(),
            number,
            view.node(),
            view.state(),
            true,
            view.created(),
            view.finished(),
            0,
            Optional.empty()),
        runs.first(),
        runs.size(),
        false,
        true);
  }

  /** A container that ended at START, in a pod that may go until {@code deadline}. */
  private static GangPod ended(int number, String phase, String deadline) {
    return ended(number, phase, deadline, 30);
  }

  private static GangPod ended(int number, String phase, String deadline, long graceSeconds) {
    Pod pod =
        new PodBuilder()
            .withNewMetadata()
            .withName("job-" + number)
            .withCreationTimestamp(START.minusSeconds(60).toString())
            .withDeletionTimestamp(deadline)
            .withDeletionGracePeriodSeconds(graceSeconds)
            .addToAnnotations(Labels.GANG_FIRST, "0")
            .addToAnnotations(Labels.GANG_SIZE, "2")
            .endMetadata()
            .withNewSpec()
            .withNodeName("n1")
            .endSpec()
            .withNewStatus()
            .withPhase(phase)
            .addNewContainerStatus()
            .withNewState()
            .withNewTerminated()
            .withFinishedAt(START.toString())
            .withExitCode(phase.equals("Failed") ? 143 : 0)
            .endTerminated()
            .endState()
            .endContainerStatus()
            .endStatus()
            .build();
    return GangPod.of(pod, 2);
  }
}
