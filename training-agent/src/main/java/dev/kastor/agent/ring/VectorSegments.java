package dev.kastor.agent.ring;

import java.io.IOException;

/**
 * A vector cut into as many segments as there are members, which circulate once to be summed and
 * once to be spread.
 */
final class VectorSegments implements Segments {
  private final float[] data;
  private final int[] bounds;
  private final int size;
  private final float[] received;

  /**
   * Segments of a vector.
   *
   * @param bounds begin of each segment, which is the end of the one before, and the end of the
   *     last
   * @param received holds a chunk
   */
  VectorSegments(float[] data, int[] bounds, float[] received) {
    this.data = data;
    this.bounds = bounds;
    this.size = bounds.length - 1;
    this.received = received;
  }

  /** Bounds of segments of equal lengths, as far as can be. */
  static int[] equal(int from, int to, int size) {
    int[] bounds = new int[size + 1];
    for (int segment = 0; segment <= size; segment++) {
      bounds[segment] = from + (int) ((long) (to - from) * segment / size);
    }
    return bounds;
  }

  @Override
  public int chunks(int segment) {
    return Math.ceilDiv(bounds[segment + 1] - bounds[segment], Frame.CHUNK_FLOATS);
  }

  @Override
  public void send(FrameWriter right, int segment, int chunk) throws IOException {
    int at = start(segment, chunk);
    right.chunk(data, at, length(segment, at));
  }

  @Override
  public void receive(FrameReader left, int round, int segment, int chunk) throws IOException {
    int at = start(segment, chunk);
    int chunkFloats = length(segment, at);
    if (round < size - 1) {
      left.chunk(received, 0, chunkFloats);
      for (int i = 0; i < chunkFloats; i++) {
        data[at + i] += received[i];
      }
    } else {
      left.chunk(data, at, chunkFloats);
    }
  }

  private int start(int segment, int chunk) {
    return bounds[segment] + chunk * Frame.CHUNK_FLOATS;
  }

  /** Length of the chunk that begins at an element. */
  private int length(int segment, int at) {
    return Math.min(Frame.CHUNK_FLOATS, bounds[segment + 1] - at);
  }
}
