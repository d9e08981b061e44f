package dev.kastor.agent.ring;

import java.io.IOException;

/**
 * Elements {@code [from, to)} of a vector, cut into as many segments as there are members, which
 * circulate once to be summed and once to be spread.
 */
final class VectorSegments implements Segments {
  private final float[] data;
  private final int from;
  private final int length;
  private final int size;
  private final float[] received;

  /**
   * Segments of a vector.
   *
   * @param size number of members
   * @param received holds a chunk
   */
  VectorSegments(float[] data, int from, int to, int size, float[] received) {
    this.data = data;
    this.from = from;
    this.length = to - from;
    this.size = size;
    this.received = received;
  }

  @Override
  public int chunks(int segment) {
    return Math.ceilDiv(start(segment + 1) - start(segment), Frame.CHUNK_FLOATS);
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

  private int start(int segment) {
    return from + (int) ((long) length * segment / size);
  }

  private int start(int segment, int chunk) {
    return start(segment) + chunk * Frame.CHUNK_FLOATS;
  }

  /** Length of the chunk that begins at an element. */
  private int length(int segment, int at) {
    return Math.min(Frame.CHUNK_FLOATS, start(segment + 1) - at);
  }
}
