package dev.kastor.agent.ring;

import java.io.IOException;

/** Bytes of each member, which circulate until all have them. */
final class ByteSegments implements Segments {
  private final byte[][] all;

  /**
   * Segments of known lengths.
   *
   * @param all by rank, of which that of this member is filled
   */
  ByteSegments(byte[][] all) {
    this.all = all;
  }

  @Override
  public int chunks(int segment) {
    return Math.ceilDiv(all[segment].length, Frame.MAX_PAYLOAD);
  }

  @Override
  public void send(FrameWriter right, int segment, int chunk) throws IOException {
    int at = chunk * Frame.MAX_PAYLOAD;
    right.gather(all[segment], at, length(segment, at));
  }

  @Override
  public void receive(FrameReader left, int round, int segment, int chunk) throws IOException {
    int at = chunk * Frame.MAX_PAYLOAD;
    left.gather(all[segment], at, length(segment, at));
  }

  /** Length of the chunk that begins at a byte. */
  private int length(int segment, int at) {
    return Math.min(Frame.MAX_PAYLOAD, all[segment].length - at);
  }
}
