package dev.kastor.agent.ring;

/**
 * Layout of what flows over a connection: type, payload length (4 bytes each), payload, and where
 * it is encrypted a tag ({@link Seal}).
 */
final class Frame {
  /** Bytes before the payload. */
  static final int HEADER_BYTES = 8;

  /** Floats in a full chunk: large enough to amortise a system call, small enough to pipeline. */
  static final int CHUNK_FLOATS = 1 << 15;

  /** Most bytes of payload in any frame. */
  static final int MAX_PAYLOAD = CHUNK_FLOATS * Float.BYTES;

  private Frame() {}

  /** What a frame holds. */
  enum Type {
    /** Nothing: the sender lives. */
    PING(0),
    /** Consecutive bytes of an all-gather, or all bytes of a replica. */
    GATHER(1),
    /** Consecutive floats of an all-reduce. */
    CHUNK(2),
    /** Consecutive bytes of a training state. */
    STATE(3);

    private final int code;

    Type(int code) {
      this.code = code;
    }

    /** Its number on the wire. */
    int code() {
      return code;
    }
  }
}
