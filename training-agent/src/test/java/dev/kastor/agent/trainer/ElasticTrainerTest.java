package dev.kastor.agent.trainer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.agent.operator.FakeOperator;
import dev.kastor.agent.operator.TestCertificate;
import dev.kastor.engine.optim.AdaScale;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Outcome;
import dev.kastor.protocol.ReplicaStart.Source;
import dev.kastor.protocol.Switch;
import dev.kastor.protocol.TelemetryReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("slow")
@Tag("never-retried")
class ElasticTrainerTest {
  private static final BatchPlan SMALL = new BatchPlan(8, 0);

  @TempDir Path folder;
  private FakeOperator operator;
  private final List<TestReplica> replicas = new ArrayList<>();
  private int started;

  @BeforeEach
  void open() throws IOException {
    operator = new FakeOperator(TestReplica.JOB, TestCertificate.shared());
  }

  @AfterEach
  void close() throws InterruptedException {
    for (TestReplica replica : replicas) {
      replica.kill();
    }
    operator.close();
  }

  private static TrainingSettings settings(Work work) {
    return settings(work, Duration.ofSeconds(10));
  }

  private static TrainingSettings settings(Work work, Duration evaluations) {
    Duration saves = Duration.ofMillis(50);
    return new TrainingSettings(
        16, 0.02, new AdaScale(), work, 5, saves, evaluations, Features.gradients(List.of()));
  }

  private static final TrainingSettings ENDLESS = settings(new Work.Steps(1L << 40));

  private List<TestReplica> start(int count, TrainingSettings settings) {
    List<TestReplica> added = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      added.add(TestReplica.start("job-" + started++, operator, settings, folder));
    }
    replicas.addAll(added);
    return added;
  }

  private void want(BatchPlan plan) {
    operator.want(plan, replicas.stream().map(TestReplica::pod).toList());
  }

  /** Where a replica says that its state came from, once it has trained. */
  private Source source(TestReplica replica) {
    try {
      operator.await("its start", () -> operator.start(replica.pod()).isPresent());
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    return operator.start(replica.pod()).orElseThrow().source();
  }

  private void awaitSettled() throws InterruptedException {
    operator.await("all members train in the newest generation", operator::settled);
  }

  private void awaitSteps(int more) throws InterruptedException {
    long now = step();
    operator.await(more + " more steps", () -> step() >= now + more);
  }

  private long step() {
    List<TelemetryReport> reports = operator.reports();
    return reports.isEmpty() ? 0 : reports.getLast().progress().step();
  }

  /** All replicas ended alike, with the same bits and without losing or repeating an example. */
  private Outcome assertSameEnd(Outcome.Kind kind) throws InterruptedException {
    Outcome first = replicas.getFirst().outcome();
    for (TestReplica replica : replicas) {
      assertThat(replica.outcome().kind()).isEqualTo(kind);
      assertThat(replica.outcome().progress()).isEqualTo(first.progress());
      assertThat(replica.outcome().lostOrRepeatedExamples()).isZero();
      assertThat(replica.model().parameters()).isEqualTo(replicas.getFirst().model().parameters());
      assertThat(replica.model().statistics()).isEqualTo(replicas.getFirst().model().statistics());
    }
    return first;
  }

  private List<Switch> switches() {
    return operator.reports().stream().flatMap(report -> report.switches().stream()).toList();
  }

  @Test
  void theLogTellsChangesInWords() {
    Switch change = new Switch(3, 1, 2, Switch.Cause.RESCALE, 0.0086);
    assertThat(ElasticTrainer.told(change, new BatchPlan(32, 1)))
        .isEqualTo(
            "trains with 2 replicas (before: 1); rescale, pause of 8.6 ms; batch 128 = 2 x 32 x 2");
  }

  @Test
  void evaluationsWhileItTrainsAreToldAndChangeNothing() throws Exception {
    Work work = new Work.Epochs(1200);
    start(1, settings(work, Duration.ofMillis(20)));
    want(SMALL);
    Outcome outcome = assertSameEnd(Outcome.Kind.COMPLETED);
    TestReplica evaluated = replicas.removeLast();
    List<Double> told =
        operator.reports().stream()
            .flatMap(report -> report.scalarsOrNone().entrySet().stream())
            .filter(scalar -> scalar.getKey().equals("held-out/meanSquaredError"))
            .map(Map.Entry::getValue)
            .toList();
    assertThat(evaluated.model().evaluations()).as("one of them at the end").isGreaterThan(1);
    assertThat(told).hasSizeBetween(1, evaluated.model().evaluations());
    assertThat(told.getLast()).isEqualTo(outcome.metric());
    operator.close();

    operator = new FakeOperator(TestReplica.JOB, TestCertificate.shared());
    Path other = Files.createDirectory(folder.resolve("other"));
    TestReplica plain =
        TestReplica.start("job-9", operator, settings(work, Duration.ofDays(1)), other);
    replicas.add(plain);
    want(SMALL);
    assertThat(plain.outcome().kind()).isEqualTo(Outcome.Kind.COMPLETED);

    assertThat(plain.model().evaluations()).isEqualTo(1);
    assertThat(plain.model().parameters()).isEqualTo(evaluated.model().parameters());
    assertThat(plain.model().statistics()).isEqualTo(evaluated.model().statistics());
    assertThat(plain.outcome().progress()).isEqualTo(outcome.progress());
    assertThat(plain.outcome().metric()).isEqualTo(outcome.metric());
  }

  @Test
  void trainsGrowsShrinksAndCompletes() throws Exception {
    TrainingSettings sixtyEpochs = settings(new Work.Epochs(60));
    start(1, sixtyEpochs).forEach(replica -> replica.model().slow(true));
    want(SMALL);
    awaitSettled();
    awaitSteps(20);
    start(2, sixtyEpochs).forEach(replica -> replica.model().slow(true));
    want(new BatchPlan(16, 1));
    awaitSettled();
    awaitSteps(20);
    assertThat(replicas)
        .extracting(this::source)
        .containsExactly(Source.INITIAL, Source.PEERS, Source.PEERS);
    TestReplica leaver = replicas.remove(1);
    want(new BatchPlan(4, 0));
    assertThat(leaver.outcome().kind()).isEqualTo(Outcome.Kind.LEFT);
    assertThat(leaver.model().warmed()).containsExactly(16);
    replicas.forEach(replica -> replica.model().slow(false));
    Outcome outcome = assertSameEnd(Outcome.Kind.COMPLETED);

    assertThat(Objects.requireNonNull(outcome.metric())).isLessThan(0.02);
    assertThat(Objects.requireNonNull(outcome.progress()).fraction()).isEqualTo(1);
    assertThat(replicas.getFirst().model().warmed()).containsExactly(8, 16, 4);
    TelemetryReport last = operator.reports().getLast();
    assertThat(last.outcome()).isEqualTo(outcome);
    assertThat(last.checkpoint()).isNotNull();
    assertThat(last.gradient()).isNotNull();
    assertThat(switches())
        .extracting(Switch::cause)
        .containsExactly(Switch.Cause.START, Switch.Cause.RESCALE, Switch.Cause.RESCALE);
    assertThat(switches()).extracting(Switch::replicasBefore).containsExactly(0, 1, 3);
    assertThat(switches()).extracting(Switch::replicasAfter).containsExactly(1, 3, 2);
    assertThat(switches()).allSatisfy(each -> assertThat(each.pauseSeconds()).isNotNegative());
    assertThat(operator.reports().stream().flatMap(report -> report.profiles().stream()))
        .anySatisfy(profile -> assertThat(profile.replicas()).isEqualTo(3));
  }

  @Test
  void survivorsRedoTheStepOfADeadMember() throws Exception {
    start(3, ENDLESS);
    want(SMALL);
    awaitSettled();
    awaitSteps(5);
    TestReplica victim = replicas.removeFirst();
    victim.kill();
    operator.died(List.of(victim.pod()));
    awaitSettled();
    awaitSteps(5);
    operator.stop();
    assertSameEnd(Outcome.Kind.STOPPED);
    assertThat(switches())
        .extracting(Switch::cause)
        .containsExactly(Switch.Cause.START, Switch.Cause.FAILURE);
  }

  @Test
  void stopsAtACheckpointAndResumesFromIt() throws Exception {
    start(2, ENDLESS);
    want(SMALL);
    awaitSettled();
    awaitSteps(10);
    operator.stop();
    Outcome stopped = assertSameEnd(Outcome.Kind.STOPPED);
    float[] parameters = replicas.getFirst().model().parameters().clone();
    replicas.clear();

    start(3, settings(new Work.Steps(1)));
    want(SMALL);
    // The declared work is less than what is done, so nothing more is trained.
    Outcome outcome = assertSameEnd(Outcome.Kind.COMPLETED);
    assertThat(Objects.requireNonNull(outcome.progress()).step())
        .isEqualTo(Objects.requireNonNull(stopped.progress()).step());
    assertThat(replicas.getFirst().model().parameters()).isEqualTo(parameters);
    assertThat(operator.reports().getLast().outcome()).isEqualTo(outcome);
  }

  @Test
  void restartsFromACheckpointWhenAllAreKilled() throws Exception {
    start(2, ENDLESS);
    want(SMALL);
    awaitSettled();
    operator.await(
        "a checkpoint",
        () -> operator.reports().stream().anyMatch(report -> report.checkpoint() != null));
    long saved = Objects.requireNonNull(operator.reports().getLast().checkpoint()).step();
    for (TestReplica replica : replicas) {
      replica.kill();
    }
    operator.died(replicas.stream().map(TestReplica::pod).toList());
    replicas.clear();
    start(3, ENDLESS);
    want(SMALL);
    awaitSettled();
    assertThat(replicas)
        .extracting(this::source)
        .allMatch(source -> source != Source.INITIAL)
        .contains(Source.CHECKPOINT);
    operator.stop();
    Outcome outcome = assertSameEnd(Outcome.Kind.STOPPED);
    assertThat(Objects.requireNonNull(outcome.progress()).step()).isGreaterThanOrEqualTo(saved);
    assertThat(saved).isPositive();
  }

  @Test
  void keepsTrainingWhileTheOperatorIsAway() throws Exception {
    start(2, ENDLESS);
    want(SMALL);
    awaitSettled();
    awaitSteps(5);
    operator.away(true);
    float before = replicas.getFirst().model().parameters()[0];
    operator.await("training goes on", () -> replicas.getFirst().model().parameters()[0] != before);
    long known = step();
    operator.away(false);
    operator.await("reports come again", () -> step() > known);
    operator.stop();
    assertSameEnd(Outcome.Kind.STOPPED);
  }

  @Test
  void replicasStayIdenticalThroughFortyChanges() throws Exception {
    stayIdentical(40);
  }

  @Test
  @Tag("nightly")
  void replicasStayIdenticalThroughTwoHundredChanges() throws Exception {
    stayIdentical(200);
  }

  private void stayIdentical(int changes) throws Exception {
    RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(2026);
    start(2, ENDLESS);
    want(SMALL);
    awaitSettled();
    List<TestReplica> gone = new ArrayList<>();
    int kills = 0;
    for (int change = 0; change < changes; change++) {
      BatchPlan plan = new BatchPlan(1 << random.nextInt(2, 5), random.nextInt(2));
      int kind = random.nextInt(3);
      if (kind == 0 && replicas.size() < 5) {
        start(1 + random.nextInt(5 - replicas.size()), ENDLESS);
        want(plan);
      } else if (kind == 1 && replicas.size() > 1) {
        Collections.shuffle(replicas, random);
        gone.add(replicas.removeLast());
        want(plan);
      } else if (replicas.size() > 1) {
        TestReplica victim = replicas.remove(random.nextInt(replicas.size()));
        victim.kill();
        operator.died(List.of(victim.pod()));
        kills++;
      } else {
        want(plan);
      }
      // Often the next change comes while this one is still under way.
      if (random.nextInt(3) > 0) {
        awaitSettled();
      }
    }
    want(SMALL);
    awaitSettled();
    awaitSteps(3);
    operator.stop();
    Outcome outcome = assertSameEnd(Outcome.Kind.STOPPED);
    assertThat(kills).isGreaterThan(changes / 7);
    assertThat(Objects.requireNonNull(outcome.progress()).examples()).isPositive();
    for (TestReplica leaver : gone) {
      leaver.kill();
    }
  }
}
