package dev.kastor.agent.trainer;

import dev.kastor.engine.train.TrainingState;

/** A 64-bit digest by which replicas find out whether their states have the same bits. */
final class StateDigest {
  private static final long MULTIPLIER = 0x9e3779b97f4a7c15L;

  private StateDigest() {}

  static long of(TrainingState state) {
    long digest = mix(state.step(), Double.doubleToRawLongBits(state.scaleInvariantSteps()));
    digest = mix(digest, state.cursor());
    digest = mix(digest, state.auditCount());
    digest = mix(digest, state.auditDigest());
    digest = mix(digest, of(state.parameters()));
    digest = mix(digest, of(state.optimizerState()));
    digest = mix(digest, of(state.statistics()));
    for (double value : state.noiseState()) {
      digest = mix(digest, Double.doubleToRawLongBits(value));
    }
    return digest;
  }

  /** Four independent chains, as each multiplication waits for the one before. */
  private static long of(float[] values) {
    long a = 1;
    long b = 2;
    long c = 3;
    long d = 4;
    int i = 0;
    for (; i + 4 <= values.length; i += 4) {
      a = (a ^ Float.floatToRawIntBits(values[i])) * MULTIPLIER;
      b = (b ^ Float.floatToRawIntBits(values[i + 1])) * MULTIPLIER;
      c = (c ^ Float.floatToRawIntBits(values[i + 2])) * MULTIPLIER;
      d = (d ^ Float.floatToRawIntBits(values[i + 3])) * MULTIPLIER;
    }
    for (; i < values.length; i++) {
      a = (a ^ Float.floatToRawIntBits(values[i])) * MULTIPLIER;
    }
    return mix(mix(mix(a, b), c), d);
  }

  private static long mix(long digest, long value) {
    long mixed = (digest ^ value) * MULTIPLIER;
    return mixed ^ (mixed >>> 32);
  }
}
