package dev.kastor.engine.backend.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.engine.graph.Primitive.Binary;
import dev.kastor.engine.graph.Primitive.Unary;
import java.util.SplittableRandom;
import java.util.function.DoubleUnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Functions that are computed in another way than the JDK's. */
class LoopsTest {
  private static final double ULP = 1.0 / (1 << 23);

  private static float apply(Unary.Kind kind, float x) {
    float[] out = new float[1];
    Loops.unary(kind, new float[] {x}, out, 1);
    return out[0];
  }

  private static float greater(float a, float b) {
    float[] out = new float[1];
    Loops.binary(Binary.Kind.GREATER, new float[] {a}, new float[] {b}, out, 1);
    return out[0];
  }

  private static void accurate(Unary.Kind kind, double most, DoubleUnaryOperator exact) {
    SplittableRandom random = new SplittableRandom(3);
    for (int i = 0; i < 20_000; i++) {
      // Of all magnitudes.
      double scale = Math.pow(10, random.nextDouble(-12, 0));
      float x = (float) (random.nextDouble(-most, most) * scale);
      double wanted = exact.applyAsDouble(x);
      assertThat((double) apply(kind, x))
          .as("%s of %s", kind, x)
          .isCloseTo(wanted, within(ULP * Math.abs(wanted)));
    }
  }

  @Tag("slow")
  @Test
  void functionsAreAccurateToTheLastPlace() {
    accurate(Unary.Kind.EXP, 87, Math::exp);
    accurate(Unary.Kind.TANH, 20, Math::tanh);
    accurate(Unary.Kind.SIGMOID, 80, x -> 1 / (1 + Math.exp(-x)));
  }

  @Test
  void functionsEndWhereFloatsDo() {
    assertThat(apply(Unary.Kind.TANH, Float.POSITIVE_INFINITY)).isEqualTo(1);
    assertThat(apply(Unary.Kind.TANH, Float.NEGATIVE_INFINITY)).isEqualTo(-1);
    assertThat(apply(Unary.Kind.TANH, 0)).isEqualTo(0);
    assertThat(apply(Unary.Kind.EXP, Float.NEGATIVE_INFINITY)).isCloseTo(0, within(1e-37f));
    assertThat(apply(Unary.Kind.SIGMOID, Float.NEGATIVE_INFINITY)).isCloseTo(0, within(1e-37f));
    assertThat(apply(Unary.Kind.SIGMOID, Float.POSITIVE_INFINITY)).isEqualTo(1);
    assertThat(apply(Unary.Kind.EXP, Float.NaN)).isNaN();
  }

  @Test
  void theLeastDifferenceCounts() {
    float infinity = Float.POSITIVE_INFINITY;
    assertThat(greater(Float.MIN_VALUE, 0)).isEqualTo(1);
    assertThat(greater(0, Float.MIN_VALUE)).isEqualTo(0);
    assertThat(greater(Math.nextUp(1f), 1)).isEqualTo(1);
    assertThat(greater(1, 1)).isEqualTo(0);
    assertThat(greater(infinity, infinity)).isEqualTo(0);
    assertThat(greater(infinity, 5)).isEqualTo(1);
    assertThat(greater(-infinity, 5)).isEqualTo(0);
    assertThat(greater(3e38f, -3e38f)).isEqualTo(1);
  }
}
