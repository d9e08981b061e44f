package dev.kastor.agent.trainer;

import dev.kastor.agent.ring.Ring;
import dev.kastor.agent.ring.RingBrokenException;
import dev.kastor.agent.ring.StepExchange;
import dev.kastor.engine.train.GradientCodec;
import java.util.Arrays;
import java.util.List;

/**
 * Exchange of codes: each member's code goes to all, and all add what the codes stand for in the
 * order of ranks, so that they come to the same bits.
 *
 * <p>Each member sends N - 1 codes and holds N. A gradient that is not finite has no code, so that
 * it never gets into an error buffer; the sum is not a number then.
 */
final class CodedExchange implements StepExchange {
  private static final byte[] NOT_FINITE = {};

  private final Ring ring;
  private final String name;
  private final GradientCodec codec;
  private final float[] gradient;

  /**
   * An exchange of one step.
   *
   * @param name of the codec
   * @param codec of this replica
   * @param gradient our share, then the sum
   */
  CodedExchange(Ring ring, String name, GradientCodec codec, float[] gradient) {
    this.ring = ring;
    this.name = name;
    this.codec = codec;
    this.gradient = gradient;
  }

  /** A codec sees the whole gradient, so nothing is sent before it is complete. */
  @Override
  public void ready(int from) {}

  @Override
  public void finish() throws RingBrokenException {
    List<byte[]> codes = ring.allGather(code(), Math.toIntExact(codec.mostBytes()));
    Arrays.fill(gradient, 0);
    for (int rank = 0; rank < codes.size(); rank++) {
      byte[] code = codes.get(rank);
      if (code.length == 0) {
        Arrays.fill(gradient, Float.NaN);
        return;
      }
      add(rank, code);
    }
  }

  private byte[] code() {
    for (float value : gradient) {
      if (!Float.isFinite(value)) {
        return NOT_FINITE;
      }
    }
    byte[] code = codec.encode(gradient);
    if (code.length == 0 || code.length > codec.mostBytes()) {
      throw new IllegalStateException(
          "codec %s gives a code of %d bytes; it may have 1 to %d"
              .formatted(name, code.length, codec.mostBytes()));
    }
    return code;
  }

  private void add(int rank, byte[] code) throws RingBrokenException {
    try {
      codec.decode(code, gradient);
    } catch (RuntimeException e) {
      // Of somebody else's class, which may miss a case.
      String message =
          "codec %s cannot read the code of rank %d: %s".formatted(name, rank, e.getMessage());
      if (rank == ring.rank()) {
        throw new IllegalStateException(message, e);
      }
      throw new RingBrokenException(message, e);
    }
  }

  @Override
  public void commit() {
    codec.commit();
  }

  /** Nothing to end: codes are exchanged within {@link #finish} alone. */
  @Override
  public void close() {}
}
