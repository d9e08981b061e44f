package com.example;

import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.train.ErrorFeedback;
import dev.kastor.engine.train.GradientCodec;
import dev.kastor.engine.train.GradientCodecPlugin;
import dev.kastor.plugin.Option;
import dev.kastor.plugin.Options;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;

/**
 * The largest numbers of a gradient with their places, and error feedback for the others (Stich et
 * al., NeurIPS 2018, algorithm 1).
 */
public final class TopK implements GradientCodecPlugin {
  private static final Option<Double> SHARE =
      Option.number("share", 0.01, "part of the parameters whose numbers a step sends")
          .where(value -> value > 0 && value <= 1, "above 0 and at most 1");

  @Override
  public String name() {
    return "topk";
  }

  @Override
  public String description() {
    return "Sends the largest numbers of each gradient; the others come with later steps.";
  }

  @Override
  public List<Option<?>> options() {
    return List.of(SHARE);
  }

  @Override
  public GradientCodec create(Options options, Layout layout) {
    return new Codec(layout.elements(), options.get(SHARE));
  }

  /** A code is as many entries as are sent, by rising place: the place, then its number. */
  private static final class Codec implements GradientCodec {
    private static final int ENTRY_BYTES = Integer.BYTES + Float.BYTES;

    private final int length;
    private final int sent;
    private final ErrorFeedback feedback;
    private final int[] counts = new int[1 << 16];

    Codec(int length, double share) {
      this.length = length;
      sent = (int) Math.ceil(share * length);
      feedback = new ErrorFeedback(length);
    }

    @Override
    public long mostBytes() {
      return (long) sent * ENTRY_BYTES;
    }

    @Override
    public byte[] encode(float[] gradient) {
      float[] left = feedback.plus(gradient);
      int least = least(left);
      int larger = 0;
      for (float value : left) {
        larger += size(value) > least ? 1 : 0;
      }
      // Of those that are as large as the least one, the first are sent.
      int equal = sent - larger;
      ByteBuffer code = ByteBuffer.allocate(sent * ENTRY_BYTES);
      for (int i = 0; i < length; i++) {
        int size = size(left[i]);
        if (size > least || (size == least && equal-- > 0)) {
          code.putInt(i).putFloat(left[i]);
          left[i] = 0;
        }
      }
      return code.array();
    }

    /** Bits of a magnitude: they are in the order of the magnitudes. */
    private static int size(float value) {
      return Float.floatToRawIntBits(value) & Integer.MAX_VALUE;
    }

    /** The smallest size that is sent: counted by their upper halves, then by the lower ones. */
    private int least(float[] values) {
      Arrays.fill(counts, 0);
      for (float value : values) {
        counts[size(value) >>> 16]++;
      }
      int wanted = sent;
      int upper = counts.length - 1;
      while (counts[upper] < wanted) {
        wanted -= counts[upper--];
      }
      Arrays.fill(counts, 0);
      for (float value : values) {
        if (size(value) >>> 16 == upper) {
          counts[size(value) & 0xffff]++;
        }
      }
      int lower = counts.length - 1;
      while (counts[lower] < wanted) {
        wanted -= counts[lower--];
      }
      return upper << 16 | lower;
    }

    @Override
    public void decode(byte[] code, float[] sum) {
      if (code.length != mostBytes()) {
        throw new IllegalArgumentException(
            "it has %d bytes, not %d".formatted(code.length, mostBytes()));
      }
      ByteBuffer entries = ByteBuffer.wrap(code);
      int before = -1;
      while (entries.hasRemaining()) {
        int place = entries.getInt();
        if (place <= before || place >= length) {
          throw new IllegalArgumentException(
              "place %d follows %d of %d parameters".formatted(place, before, length));
        }
        sum[place] += entries.getFloat();
        before = place;
      }
    }

    @Override
    public void commit() {
      feedback.commit();
    }
  }
}
