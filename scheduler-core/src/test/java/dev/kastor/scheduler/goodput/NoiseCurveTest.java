package dev.kastor.scheduler.goodput;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.protocol.GradientStats;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Noise over the course of a job's work, with values by hand. */
final class NoiseCurveTest {
  private static final double BUCKET = 1.0 / NoiseCurve.BUCKETS;

  /** A curve whose noise scale doubles from each bucket to the next one: 1, 2, 4, ... */
  private static NoiseCurve doubling() {
    double[] logs = new double[NoiseCurve.BUCKETS];
    Arrays.setAll(logs, bucket -> bucket * Math.log(2));
    return new NoiseCurve(logs, 16, 32);
  }

  @Test
  void theLogarithmIsLinearBetweenTheMiddlesOfBuckets() {
    NoiseCurve curve = doubling();
    assertThat(curve.noiseScale(2.5 * BUCKET)).isCloseTo(4, within(1e-9));
    assertThat(curve.noiseScale(3 * BUCKET)).isCloseTo(4 * Math.sqrt(2), within(1e-9));
    assertThat(curve.noiseScale(3.25 * BUCKET)).isCloseTo(4 * Math.pow(2, 0.75), within(1e-9));
  }

  @Test
  void beforeTheFirstAndAfterTheLastMiddleItStaysTheSame() {
    NoiseCurve curve = doubling();
    double last = Math.pow(2, NoiseCurve.BUCKETS - 1);
    for (double fraction : new double[] {-1, 0, 0.4 * BUCKET, 0.5 * BUCKET}) {
      assertThat(curve.noiseScale(fraction)).isCloseTo(1, within(1e-12));
    }
    for (double fraction : new double[] {1 - 0.5 * BUCKET, 1 - 0.1 * BUCKET, 1, 2}) {
      assertThat(curve.noiseScale(fraction)).isCloseTo(last, within(last * 1e-9));
    }
  }

  /** (phi + M0) / (phi + M) with phi = 4, M0 = 32, M = 68. */
  @Test
  void efficiencyIsThatOfTheNoiseScale() {
    assertThat(doubling().efficiency(2.5 * BUCKET, 68)).isCloseTo(0.5, within(1e-9));
    assertThat(doubling().efficiency(2.5 * BUCKET, 32)).isEqualTo(1);
  }

  @Test
  void statisticsHaveTheVarianceOfTheInitialBatch() {
    GradientStats stats = doubling().at(2.5 * BUCKET);
    assertThat(stats.squaredNorm()).isEqualTo(1);
    assertThat(stats.variance()).isCloseTo(4.0 / 32, within(1e-9));
    assertThat(stats.initialBatch()).isEqualTo(32);
  }

  @Test
  void anotherInitialBatchChangesTheAnswersAndNotTheNoise() {
    NoiseCurve curve = doubling();
    assertThat(curve.withInitialBatch(32)).isSameAs(curve);
    NoiseCurve other = curve.withInitialBatch(64);
    assertThat(other.initialBatch()).isEqualTo(64);
    assertThat(other.logNoiseScale()).isEqualTo(curve.logNoiseScale());
    assertThat(other.seen()).isEqualTo(16);
    assertThat(other.coverage()).isEqualTo(0.25);
  }

  @Test
  void curvesAreEqualWhereAllTheirValuesAre() {
    NoiseCurve curve = doubling();
    double[] logs = curve.logNoiseScale();
    assertThat(curve).isEqualTo(doubling()).hasSameHashCodeAs(doubling());
    assertThat(curve).isNotEqualTo(curve.withInitialBatch(64));
    assertThat(curve).isNotEqualTo(new NoiseCurve(logs.clone(), 17, 32));
    logs[3]++;
    assertThat(curve).isNotEqualTo(new NoiseCurve(logs, 16, 32)).isNotEqualTo("a curve");
    assertThat(curve).hasToString("NoiseCurve[1.000..9.223e+18 examples, 16 of 64 seen]");
  }
}
