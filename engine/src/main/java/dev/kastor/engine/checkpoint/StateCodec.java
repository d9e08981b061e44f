package dev.kastor.engine.checkpoint;

import dev.kastor.engine.train.TrainingState;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The byte form of a training state, for checkpoints and for streaming it to a new replica.
 *
 * <p>Little-endian: step, scale-invariant steps (a double), cursor, audit count, audit digest (8
 * bytes each); the lengths of the four arrays (4 bytes each); the arrays. Bit patterns survive
 * unchanged, so a decoded replica is identical to the encoded one. The form carries no checksum:
 * the file or the connection around it does.
 */
public final class StateCodec {
  /** Bytes before the arrays. */
  public static final int FIXED_BYTES = 5 * Long.BYTES + 4 * Integer.BYTES;

  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfDouble DOUBLE =
      ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private StateCodec() {}

  /** Bytes that {@link #encode} writes. */
  public static long encodedBytes(TrainingState state) {
    return encodedBytes(
        state.parameters().length,
        state.optimizerState().length,
        state.statistics().length,
        state.noiseState().length);
  }

  private static long encodedBytes(long parameters, long optimizer, long statistics, long noise) {
    return FIXED_BYTES + Float.BYTES * (parameters + optimizer + statistics) + Double.BYTES * noise;
  }

  /** Encodes into a segment of exactly {@link #encodedBytes}, taken from the allocator. */
  public static MemorySegment encode(TrainingState state, SegmentAllocator allocator) {
    MemorySegment target = allocator.allocate(encodedBytes(state), Long.BYTES);
    encode(state, target);
    return target;
  }

  /** Encodes into the first {@link #encodedBytes} of {@code target}. */
  public static void encode(TrainingState state, MemorySegment target) {
    target.set(LONG, 0, state.step());
    target.set(DOUBLE, 8, state.scaleInvariantSteps());
    target.set(LONG, 16, state.cursor());
    target.set(LONG, 24, state.auditCount());
    target.set(LONG, 32, state.auditDigest());
    target.set(INT, 40, state.parameters().length);
    target.set(INT, 44, state.optimizerState().length);
    target.set(INT, 48, state.statistics().length);
    target.set(INT, 52, state.noiseState().length);
    long offset = FIXED_BYTES;
    offset = put(state.parameters(), target, offset);
    offset = put(state.optimizerState(), target, offset);
    offset = put(state.statistics(), target, offset);
    double[] noise = state.noiseState();
    MemorySegment.copy(noise, 0, target, DOUBLE, offset, noise.length);
  }

  /**
   * Decodes a whole segment.
   *
   * <p>The array lengths are held against the segment's size before anything is allocated, so
   * corrupt bytes cost no more memory than they occupy.
   *
   * @throws CheckpointException if the bytes are not one state
   */
  public static TrainingState decode(MemorySegment source) throws CheckpointException {
    if (source.byteSize() < FIXED_BYTES) {
      throw new CheckpointException(
          "A training state has at least %d bytes but there are %d."
              .formatted(FIXED_BYTES, source.byteSize()));
    }
    Shape shape = shape(source, source.byteSize());
    long offset = FIXED_BYTES;
    float[] parameterArray = floats(source, offset, shape.parameters());
    offset += (long) Float.BYTES * shape.parameters();
    float[] optimizerArray = floats(source, offset, shape.optimizerState());
    offset += (long) Float.BYTES * shape.optimizerState();
    float[] statisticsArray = floats(source, offset, shape.statistics());
    offset += (long) Float.BYTES * shape.statistics();
    double[] noiseArray = new double[shape.noiseState()];
    MemorySegment.copy(source, DOUBLE, offset, noiseArray, 0, shape.noiseState());
    return new TrainingState(
        shape.step(),
        source.get(DOUBLE, 8),
        source.get(LONG, 16),
        source.get(LONG, 24),
        source.get(LONG, 32),
        parameterArray,
        optimizerArray,
        statisticsArray,
        noiseArray);
  }

  /** The step of a state and the lengths of its arrays. */
  record Shape(long step, int parameters, int optimizerState, int statistics, int noiseState) {}

  /**
   * Reads what stands before the arrays.
   *
   * @param bytes of the whole state
   * @throws CheckpointException if these lengths do not make so many bytes
   */
  static Shape shape(MemorySegment source, long bytes) throws CheckpointException {
    int parameters = length(source, 40, "parameters");
    int optimizer = length(source, 44, "optimizer state");
    int statistics = length(source, 48, "statistics");
    int noise = length(source, 52, "noise state");
    long expected = encodedBytes(parameters, optimizer, statistics, noise);
    if (expected != bytes) {
      throw new CheckpointException(
          "The lengths in a training state add up to %d bytes but there are %d."
              .formatted(expected, bytes));
    }
    return new Shape(source.get(LONG, 0), parameters, optimizer, statistics, noise);
  }

  /** Convenience form of {@link #encode(TrainingState, MemorySegment)} for states below 2 GiB. */
  public static byte[] toBytes(TrainingState state) {
    byte[] bytes = new byte[Math.toIntExact(encodedBytes(state))];
    encode(state, MemorySegment.ofArray(bytes));
    return bytes;
  }

  /** Decodes bytes of {@link #toBytes}. */
  public static TrainingState fromBytes(byte[] bytes) throws CheckpointException {
    return decode(MemorySegment.ofArray(bytes));
  }

  private static int length(MemorySegment source, long offset, String what)
      throws CheckpointException {
    int length = source.get(INT, offset);
    if (length < 0) {
      throw new CheckpointException(
          "The length of the %s in a training state is negative (%d).".formatted(what, length));
    }
    return length;
  }

  private static long put(float[] values, MemorySegment target, long offset) {
    MemorySegment.copy(values, 0, target, FLOAT, offset, values.length);
    return offset + (long) Float.BYTES * values.length;
  }

  private static float[] floats(MemorySegment source, long offset, int length) {
    float[] values = new float[length];
    MemorySegment.copy(source, FLOAT, offset, values, 0, length);
    return values;
  }
}
