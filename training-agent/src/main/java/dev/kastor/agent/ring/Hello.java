package dev.kastor.agent.ring;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * What a connecting replica says first; all of it is covered by both authentication codes.
 *
 * @param purpose what the connection is for
 * @param cipher of all that the connecting replica sends after the handshake
 * @param job {@code namespace/name}
 * @param generation membership generation in which the ranks are valid
 * @param from rank of the connecting replica
 * @param to rank it believes to reach
 */
record Hello(Purpose purpose, RingCipher cipher, String job, long generation, int from, int to) {
  /** Length of either side's nonce. */
  static final int NONCE_BYTES = 32;

  /** Most bytes of an encoded hello after its length field. */
  static final int MAX_BYTES = 512;

  private static final long MAGIC = 0x4b41_5354_4f52_3034L; // "KASTOR04"
  private static final int VERSION_BITS = 16;
  private static final int FIXED_BYTES = 8 + 1 + 1 + 8 + 4 + 4 + NONCE_BYTES + 2;

  /** What a connection is for. */
  enum Purpose {
    /** The link from a replica to its right neighbour. */
    RING(1),
    /** One share of the training state. */
    STATE(2),
    /** The link from a replica to the next one in a ring of some members. */
    GROUP(3),
    /** Words of a worker to a parameter server. */
    WORKER(4),
    /** Words of a parameter server to a worker. */
    SERVER(5),
    /** Words of a parameter server to another. */
    SERVERS(6);

    private final byte code;

    Purpose(int code) {
      this.code = (byte) code;
    }
  }

  /** The part that a listener looks a connection up by. */
  Key key() {
    return new Key(purpose, generation, from, to);
  }

  /**
   * Its bytes on the wire.
   *
   * @param nonce {@link #NONCE_BYTES} random bytes that make it unique
   */
  byte[] encode(byte[] nonce) {
    byte[] name = job.getBytes(StandardCharsets.UTF_8);
    if (FIXED_BYTES + name.length > MAX_BYTES) {
      throw new IllegalArgumentException(
          "job name %s has %d bytes; at most %d fit a handshake"
              .formatted(job, name.length, MAX_BYTES - FIXED_BYTES));
    }
    return ByteBuffer.allocate(FIXED_BYTES + name.length)
        .putLong(MAGIC)
        .put(purpose.code)
        .put(cipher.code())
        .putLong(generation)
        .putInt(from)
        .putInt(to)
        .put(nonce)
        .putShort((short) name.length)
        .put(name)
        .array();
  }

  static Hello decode(byte[] bytes) throws IOException {
    if (bytes.length < FIXED_BYTES) {
      throw new IOException("hello of %d bytes is too short".formatted(bytes.length));
    }
    ByteBuffer in = ByteBuffer.wrap(bytes);
    long magic = in.getLong();
    if (magic >>> VERSION_BITS != MAGIC >>> VERSION_BITS) {
      throw new IOException("not a Kastor ring connection");
    }
    if (magic != MAGIC) {
      throw new IOException(
          "it speaks version %s of the ring protocol and this replica version %s: suspend the job and"
                  .formatted(version(magic), version(MAGIC))
              + " resume it, so that all its replicas are of one version of Kastor");
    }
    Purpose purpose =
        switch (in.get()) {
          case 1 -> Purpose.RING;
          case 2 -> Purpose.STATE;
          case 3 -> Purpose.GROUP;
          case 4 -> Purpose.WORKER;
          case 5 -> Purpose.SERVER;
          case 6 -> Purpose.SERVERS;
          default -> throw new IOException("its purpose is unknown");
        };
    RingCipher cipher = cipher(in.get());
    long generation = in.getLong();
    int from = in.getInt();
    int to = in.getInt();
    in.position(in.position() + NONCE_BYTES);
    int length = in.getShort();
    if (length != in.remaining()) {
      throw new IOException("hello's job name has the wrong length");
    }
    String job =
        new String(Arrays.copyOfRange(bytes, in.position(), bytes.length), StandardCharsets.UTF_8);
    return new Hello(purpose, cipher, job, generation, from, to);
  }

  private static RingCipher cipher(byte code) throws IOException {
    for (RingCipher cipher : RingCipher.values()) {
      if (cipher.code() == code) {
        return cipher;
      }
    }
    throw new IOException("its cipher is unknown");
  }

  private static String version(long magic) {
    return "%c%c".formatted((char) (magic >>> Byte.SIZE & 0xff), (char) (magic & 0xff));
  }

  /** Names one connection of one generation. */
  record Key(Purpose purpose, long generation, int from, int to) {}
}
