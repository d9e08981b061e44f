package dev.kastor.scheduler.estimate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.protocol.GradientStats;
import dev.kastor.scheduler.goodput.NoiseCurve;
import java.util.List;
import org.junit.jupiter.api.Test;

class NoiseBucketsTest {
  private final NoiseBuckets buckets = new NoiseBuckets();

  /** Noise scales of a job in the middle of a bucket. */
  private void observe(int bucket, double... noiseScales) {
    for (double noiseScale : noiseScales) {
      buckets.observe(
          (bucket + 0.5) / NoiseCurve.BUCKETS, new GradientStats(1, noiseScale / 32, 32));
    }
  }

  private double at(int bucket) {
    return buckets.curve().orElseThrow().noiseScale((bucket + 0.5) / NoiseCurve.BUCKETS);
  }

  @Test
  void hasNoCurveBeforeTheFirstReport() {
    assertThat(buckets.curve()).isEmpty();
    assertThat(buckets.buckets()).isEmpty();
  }

  @Test
  void theCurveStaysTheSameBeforeTheFirstAndAfterTheLastBucketThatWasSeen() {
    observe(10, 100);
    observe(20, 400);
    for (int bucket = 0; bucket < 10; bucket++) {
      assertThat(at(bucket)).isCloseTo(100, within(1e-9));
    }
    for (int bucket = 20; bucket < NoiseCurve.BUCKETS; bucket++) {
      assertThat(at(bucket)).isCloseTo(400, within(1e-9));
    }
    assertThat(buckets.curve().orElseThrow().seen()).isEqualTo(2);
    assertThat(buckets.curve().orElseThrow().initialBatch()).isEqualTo(32);
  }

  @Test
  void betweenBucketsItsLogarithmIsLinear() {
    observe(10, 100);
    observe(20, 400);
    for (int bucket = 11; bucket < 20; bucket++) {
      assertThat(at(bucket)).isCloseTo(100 * Math.pow(4, (bucket - 10) / 10.0), within(1e-9));
    }
  }

  @Test
  void aBucketIsTheMeanOfLogarithmsAndOldReportsFade() {
    observe(5, 100, 400);
    assertThat(at(5)).as("geometric mean").isCloseTo(200, within(1e-9));
    observe(5, 200, 200, 200, 200, 200, 200);
    assertThat(at(5)).isCloseTo(200, within(1e-9));
    // The ninth counts as an eighth, as the eighth did.
    observe(5, 200 * 256);
    assertThat(at(5)).isCloseTo(400, within(1e-9));
  }

  @Test
  void noiseThatCannotBeIsBounded() {
    buckets.observe(0, new GradientStats(0, 1, 32));
    assertThat(at(0)).as("no signal was seen").isCloseTo(1e9, within(1e-3));
    observe(1, 0);
    assertThat(at(1)).isCloseTo(1e-3, within(1e-12));
  }

  @Test
  void progressBeyondTheWorkIsTheLastBucket() {
    buckets.observe(1, new GradientStats(1, 1, 32));
    buckets.observe(1.5, new GradientStats(1, 1, 64));
    assertThat(buckets.buckets())
        .singleElement()
        .satisfies(bucket -> {
          assertThat(bucket.index()).isEqualTo(NoiseCurve.BUCKETS - 1);
          assertThat(bucket.reports()).isEqualTo(2);
        });
    assertThat(buckets.initialBatch()).isEqualTo(64);
  }

  @Test
  void isRestoredFromWhatWasStored() {
    observe(3, 100, 50, 25);
    observe(40, 1000);
    List<NoiseBucket> stored = buckets.buckets();
    NoiseBuckets other = new NoiseBuckets(buckets.initialBatch(), stored);
    assertThat(other.buckets()).extracting(NoiseBucket::reports).containsExactly(3, 1);
    assertThat(other.curve().orElseThrow().seen()).isEqualTo(2);
    for (int bucket : List.of(0, 3, 20, 40)) {
      double fraction = (bucket + 0.5) / NoiseCurve.BUCKETS;
      assertThat(other.curve().orElseThrow().noiseScale(fraction))
          .isCloseTo(at(bucket), within(1e-9));
    }
  }
}
