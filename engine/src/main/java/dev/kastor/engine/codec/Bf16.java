package dev.kastor.engine.codec;

import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.train.ErrorFeedback;
import dev.kastor.engine.train.GradientCodec;
import dev.kastor.engine.train.GradientCodecPlugin;
import dev.kastor.plugin.Options;
import java.nio.ByteBuffer;

/**
 * Gradients of 16 bits a parameter: the upper half of each float, its sign, exponent and first
 * seven fraction bits (bfloat16), with error feedback.
 *
 * <p>Numbers are cut off and not rounded: what is finite stays so, and what is cut off is exact in
 * a float.
 */
final class Bf16 implements GradientCodecPlugin {
  @Override
  public String name() {
    return "bf16";
  }

  @Override
  public String description() {
    return "Sends the upper 16 bits of each number; what is cut off comes with later steps.";
  }

  @Override
  public GradientCodec create(Options options, Layout layout) {
    return new Codec(layout.elements());
  }

  private static final class Codec implements GradientCodec {
    private static final int LOWER_HALF = 0xffff;

    private final int length;
    private final ErrorFeedback feedback;

    Codec(int length) {
      this.length = length;
      feedback = new ErrorFeedback(length);
    }

    @Override
    public long mostBytes() {
      return (long) length * Short.BYTES;
    }

    @Override
    public byte[] encode(float[] gradient) {
      float[] left = feedback.plus(gradient);
      ByteBuffer code = ByteBuffer.allocate(length * Short.BYTES);
      for (int i = 0; i < length; i++) {
        int bits = Float.floatToRawIntBits(left[i]);
        code.putShort((short) (bits >>> Short.SIZE));
        left[i] -= Float.intBitsToFloat(bits & ~LOWER_HALF);
      }
      return code.array();
    }

    @Override
    public void decode(byte[] code, float[] sum) {
      if (code.length != length * Short.BYTES) {
        throw new IllegalArgumentException(
            "it has %d bytes instead of 2 for each of %d parameters"
                .formatted(code.length, length));
      }
      ByteBuffer halves = ByteBuffer.wrap(code);
      for (int i = 0; i < length; i++) {
        sum[i] += Float.intBitsToFloat(halves.getShort() << Short.SIZE);
      }
    }

    @Override
    public void commit() {
      feedback.commit();
    }
  }
}
