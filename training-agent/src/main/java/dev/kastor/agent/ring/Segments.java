package dev.kastor.agent.ring;

import java.io.IOException;

/** Data that circulates in a ring in segments, one for each member, and these in chunks. */
interface Segments {
  /** Chunks of a segment, the same on all members. */
  int chunks(int segment);

  /** Sends a chunk to the right. */
  void send(FrameWriter right, int segment, int chunk) throws IOException;

  /** Receives a chunk from the left; in the next round it goes on. */
  void receive(FrameReader left, int round, int segment, int chunk) throws IOException;
}
