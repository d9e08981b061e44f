package dev.kastor.scheduler.estimate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.Progress;
import dev.kastor.protocol.StepProfile;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.goodput.NoiseCurve;
import dev.kastor.scheduler.goodput.Outlook;
import dev.kastor.scheduler.goodput.PlacementShape;
import dev.kastor.scheduler.goodput.ThroughputParams;
import dev.kastor.scheduler.model.AllowedReplicas;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class LearnerTest {
  private static final ThroughputParams TRUTH =
      new ThroughputParams(0.05, 0.002, 0.08, 0.01, 0.03, 0.002, 1.6);
  private static final int M0 = 64;
  private static final Instant START = Instant.EPOCH;
  private static final int[][] SHAPES = {{1, 1}, {1, 2}, {1, 4}, {2, 4}, {2, 8}, {4, 8}};
  private static final int[] BATCHES = {16, 64, 200};

  private final FamilyMemory memory = new FamilyMemory();

  private static JobSpec spec(String name, String family) {
    return new JobSpec(
        new JobId("test", name),
        START,
        family,
        new Elasticity.Adaptive(1, 8, new AllowedReplicas.Any()),
        1,
        new BatchLimits(M0, 4096, 8, 256, true),
        "",
        new LinkedHashMap<>());
  }

  private Learner learner(String name, String family) {
    JobSpec spec = spec(name, family);
    return new Learner(spec, new GoodputEstimator(spec), Optional.of(memory));
  }

  private static StepProfile profile(int nodes, int replicas, int atomic, double slowdown) {
    double compute = TRUTH.computeSeconds(atomic) * slowdown;
    double step = TRUTH.updateSeconds(new PlacementShape(nodes, replicas, ""), atomic) * slowdown;
    return new StepProfile(nodes, replicas, atomic, 10, step, Math.max(0, step - compute));
  }

  private static Progress progress(double done) {
    return new Progress((long) done, done, 1000, (long) (done * M0), 0);
  }

  /** Noise scale in examples at a progress fraction: it grows while a model is trained. */
  private static double noiseScale(double fraction) {
    return 100 * Math.exp(3 * fraction);
  }

  private static GradientStats noise(double fraction, double factor) {
    return new GradientStats(2, 2 * factor * noiseScale(fraction) / M0, M0);
  }

  /** A job that ran in all shapes and to its end. */
  private void teach(String name, String family) {
    Learner teacher = learner(name, family);
    for (int[] shape : SHAPES) {
      for (int atomic : BATCHES) {
        teacher.observe(profile(shape[0], shape[1], atomic, 1), START);
      }
    }
    for (int i = 0; i <= 100; i++) {
      teacher.observe(noise(i / 100.0, 1), progress(10 * i), START);
    }
    teacher.finished(progress(1000), START);
  }

  private static double predicted(Learner learner, int nodes, int replicas, int atomic) {
    return learner
        .model(START)
        .orElseThrow()
        .params("")
        .updateSeconds(new PlacementShape(nodes, replicas, ""), atomic);
  }

  private static double truth(int nodes, int replicas, int atomic) {
    return TRUTH.updateSeconds(new PlacementShape(nodes, replicas, ""), atomic);
  }

  @Test
  void aJobOfAKnownFamilyBeginsWithItsModel() {
    teach("first", "resnet");
    Learner second = learner("second", "resnet");
    for (int[] shape : SHAPES) {
      assertThat(predicted(second, shape[0], shape[1], 100) / truth(shape[0], shape[1], 100))
          .isCloseTo(1, within(0.03));
    }
    assertThat(second.maxProfiledReplicas()).isEqualTo(8);
    assertThat(second.model(START).orElseThrow().gradient().noiseScale())
        .isCloseTo(noiseScale(0), within(5.0));
  }

  @Test
  void aFirstSeenFamilyAndAJobOfNoneKnowNothing() {
    teach("first", "resnet");
    teach("alone", "");
    for (String family : new String[] {"bert", ""}) {
      Learner other = learner("other", family);
      assertThat(other.model(START)).isEmpty();
      assertThat(other.outlook(START)).isEqualTo(Outlook.NONE);
      assertThat(other.maxProfiledReplicas()).isZero();
    }
    assertThat(memory.stored()).extracting(RememberedFamily::name).containsExactly("resnet");
  }

  @Test
  void theOutlookHoldsTheNoiseToCome() {
    teach("first", "resnet");
    Outlook outlook = learner("second", "resnet").outlook(START);
    NoiseCurve curve = outlook.noise().orElseThrow();
    assertThat(curve.coverage()).isEqualTo(1);
    for (double fraction = 0.02; fraction < 0.98; fraction += 0.05) {
      assertThat(curve.noiseScale(fraction) / noiseScale(fraction)).isCloseTo(1, within(0.02));
      assertThat(curve.at(fraction).efficiency(512))
          .isCloseTo(noise(fraction, 1).efficiency(512), within(0.005));
      assertThat(curve.efficiency(fraction, 512))
          .isCloseTo(curve.at(fraction).efficiency(512), within(1e-12));
    }
    Progress undeclared = new Progress(10, 250, 0, 10, 0);
    assertThat(outlook.knowsTotal(undeclared)).isTrue();
    assertThat(outlook.totalSteps(undeclared)).isEqualTo(1000);
    assertThat(outlook.fraction(undeclared)).isEqualTo(0.25);
  }

  @Tag("slow")
  @Test
  void noiseOfUndeclaredWorkIsDatedWhenTheJobEnds() {
    Learner first = learner("first", "resnet");
    for (int step = 0; step <= 10_000; step++) {
      Progress undeclared = new Progress(step, step, 0, (long) step * M0, 0);
      first.observe(profile(1, 1, 64, 1), START);
      first.observe(noise(step / 10_000.0, 1), undeclared, START);
    }
    assertThat(learner("second", "resnet").outlook(START).noise()).isEmpty();
    first.finished(new Progress(10_000, 10_000, 0, 10_000L * M0, 0), START);
    Outlook outlook = learner("third", "resnet").outlook(START);
    NoiseCurve curve = outlook.noise().orElseThrow();
    assertThat(curve.coverage()).isGreaterThan(0.9);
    for (double fraction = 0.02; fraction < 0.98; fraction += 0.05) {
      assertThat(curve.noiseScale(fraction) / noiseScale(fraction)).isCloseTo(1, within(0.03));
    }
    assertThat(outlook.totalSteps(new Progress(0, 0, 0, 0, 0))).isEqualTo(10_000);
    assertThat(outlook.totalSteps(new Progress(0, 20_000, 0, 0, 0))).isEqualTo(40_000);
    assertThat(outlook.knowsTotal(new Progress(0, 20_000, 0, 0, 0))).isFalse();
  }

  @Test
  void ownReportsReplaceRememberedOnes() {
    teach("first", "resnet");
    Learner second = learner("second", "resnet");
    second.observe(noise(0, 1.5), progress(1), START);
    for (int[] shape : SHAPES) {
      for (int atomic : BATCHES) {
        second.observe(profile(shape[0], shape[1], atomic, 1.3), START);
      }
    }
    assertThat(second.model(START).orElseThrow().gradient()).isEqualTo(noise(0, 1.5));
    for (int[] shape : SHAPES) {
      assertThat(predicted(second, shape[0], shape[1], 100) / truth(shape[0], shape[1], 100))
          .isCloseTo(1.3, within(0.04));
    }
  }

  @Tag("slow")
  @ParameterizedTest
  @ValueSource(doubles = {2, 0.5, 10})
  void aWrongMemoryIsDroppedWithinThreeReports(double slowdown) {
    SplittableRandom random = new SplittableRandom(7);
    for (int trial = 0; trial < 200; trial++) {
      String family = "family-" + trial;
      teach("first", family);
      double before = memory.confidence(family, START);
      Learner second = learner("second", family);
      assertThat(second.model(START)).isPresent();
      for (int report = 0; report < 3; report++) {
        second.observe(random(random, slowdown, 0.1), START);
        second.observe(noise(0, 1), progress(report), START);
      }
      assertThat(memory.confidence(family, START)).as("trial %d", trial).isLessThan(before);
      // What is left is its own: the 8 replicas of the first job are not among it.
      second.model(START);
      assertThat(second.maxProfiledReplicas()).isLessThan(8);
    }
  }

  @Tag("slow")
  @Test
  void aRightMemoryIsKeptDespiteNoise() {
    SplittableRandom random = new SplittableRandom(8);
    for (int trial = 0; trial < 200; trial++) {
      String family = "family-" + trial;
      teach("first", family);
      double before = memory.confidence(family, START);
      Learner second = learner("second", family);
      for (int report = 0; report < 10; report++) {
        second.observe(random(random, 1, 0.1), START);
        second.observe(noise(0, Math.exp(0.5 * random.nextGaussian())), progress(report), START);
      }
      assertThat(memory.confidence(family, START)).as("trial %d", trial).isGreaterThan(before);
      second.model(START);
      assertThat(second.maxProfiledReplicas()).isEqualTo(8);
    }
  }

  private static StepProfile random(SplittableRandom random, double slowdown, double noise) {
    int[] shape = SHAPES[random.nextInt(4)];
    return profile(
        shape[0],
        shape[1],
        8 + random.nextInt(240),
        slowdown * Math.exp(noise * random.nextGaussian()));
  }

  @Test
  void aSlowFirstReportIsNoContradiction() {
    teach("first", "resnet");
    Learner second = learner("second", "resnet");
    second.observe(profile(1, 1, 64, 8), START);
    second.observe(profile(1, 1, 64, 1), START);
    second.observe(profile(1, 2, 64, 1), START);
    second.model(START);
    assertThat(second.maxProfiledReplicas()).isEqualTo(8);
    assertThat(memory.confidence("resnet", START)).isEqualTo(0.625);
  }

  @Test
  void wrongNoiseIsDroppedAndStepTimesKept() {
    teach("first", "resnet");
    Learner second = learner("second", "resnet");
    for (int report = 0; report < 3; report++) {
      second.observe(profile(1, 1, 64, 1), START);
      second.observe(noise(0, 10), progress(report), START);
    }
    assertThat(second.outlook(START).noise()).isEmpty();
    assertThat(predicted(second, 4, 8, 64) / truth(4, 8, 64)).isCloseTo(1, within(0.03));
  }

  @Test
  void aJobThatContradictedTeachesNoLength() {
    teach("first", "resnet");
    Learner wronged = learner("second", "resnet");
    double before = memory.confidence("resnet", START);
    for (int report = 0; report < 6; report++) {
      wronged.observe(profile(1, 1, 64, 3), START);
    }
    assertThat(memory.confidence("resnet", START)).isLessThan(before);
    wronged.finished(progress(5000), START);
    assertThat(learner("third", "resnet").outlook(START).finishedSteps()).containsExactly(1000.0);
    Learner agreed = learner("fourth", "resnet");
    agreed.observe(profile(1, 1, 64, 1), START);
    agreed.finished(progress(3000), START);
    assertThat(learner("fifth", "resnet").outlook(START).finishedSteps())
        .containsExactlyInAnyOrder(1000.0, 3000.0);
  }

  @Test
  void aFamilyThatWasWrongTwiceBeginsAnewFromTheJobsThatSaidSo() {
    teach("first", "resnet");
    for (String name : new String[] {"second", "third"}) {
      Learner wronged = learner(name, "resnet");
      for (int report = 0; report < 6; report++) {
        wronged.observe(profile(1, 1, 64, 3), START);
        wronged.observe(noise(0, 1), progress(report), START);
      }
    }
    Learner fourth = learner("fourth", "resnet");
    fourth.model(START);
    assertThat(fourth.maxProfiledReplicas()).isEqualTo(1);
    assertThat(predicted(fourth, 1, 1, 64) / truth(1, 1, 64)).isCloseTo(3, within(0.1));
  }

  @Test
  void confidenceHalvesInAMonthAndOldMemoriesAreNotUsed() {
    teach("first", "resnet");
    assertThat(memory.confidence("resnet", START)).isEqualTo(0.5);
    Instant later = START.plus(Duration.ofDays(30));
    assertThat(memory.confidence("resnet", later)).isCloseTo(0.25, within(1e-12));
    assertThat(learner("second", "resnet").model(later)).isPresent();
    assertThat(learner("third", "resnet").model(later.plus(Duration.ofDays(30)))).isEmpty();
  }

  @Test
  void itSurvivesBeingStored() {
    teach("first", "resnet");
    teach("first", "bert");
    FamilyMemory restored = FamilyMemory.from(memory.stored());
    assertThat(restored.stored()).isEqualTo(memory.stored());
    JobSpec spec = spec("second", "bert");
    Learner here = learner("second", "bert");
    Learner there = new Learner(spec, new GoodputEstimator(spec), Optional.of(restored));
    for (int[] shape : SHAPES) {
      assertThat(
              predicted(there, shape[0], shape[1], 100) / predicted(here, shape[0], shape[1], 100))
          .isCloseTo(1, within(1e-3));
    }
    assertThat(there.outlook(START).finishedSteps()).containsExactly(1000.0);
    assertThat(there.outlook(START).noise().orElseThrow().noiseScale(0.5))
        .isCloseTo(here.outlook(START).noise().orElseThrow().noiseScale(0.5), within(1e-6));
  }

  @Test
  void manyFamiliesOfOneOwnerPushOutThatOwnersAlone() {
    for (int f = 0; f < 3; f++) {
      learner("a", "blue/family-" + f).finished(progress(1000), START);
    }
    for (int f = 0; f < 2 * FamilyMemory.MAX_FAMILIES; f++) {
      learner("a", "red/family-" + f).finished(progress(1000), START);
    }
    assertThat(memory.stored())
        .hasSize(FamilyMemory.MAX_FAMILIES)
        .extracting(RememberedFamily::name)
        .contains("blue/family-0", "blue/family-1", "blue/family-2");
  }

  @Test
  void itIsBounded() {
    for (int f = 0; f < FamilyMemory.MAX_FAMILIES + 10; f++) {
      Learner learner = learner("a", "family-" + f);
      for (int i = 0; i < (f % 50 == 0 ? 300 : 1); i++) {
        learner.observe(profile(1, 1, 1 + i, 1).onType("type-" + i % 20), START);
        learner.observe(profile(1, 1, 1 + i, 1), START);
        learner.finished(progress(1000), START);
      }
    }
    assertThat(memory.stored()).hasSize(FamilyMemory.MAX_FAMILIES);
    assertThat(memory.stored().getFirst().name()).isEqualTo("family-10");
    for (RememberedFamily family : memory.stored()) {
      assertThat(family.finishedSteps()).hasSizeLessThanOrEqualTo(9);
      assertThat(family.profilesByType()).hasSizeLessThanOrEqualTo(16);
      assertThat(family.profilesByType().values())
          .allSatisfy(
              profiles -> assertThat(profiles).hasSizeLessThanOrEqualTo(GoodputEstimator.MAX_KEYS));
    }
  }
}
