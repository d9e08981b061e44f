package dev.kastor.engine.partition.tcp;

import dev.kastor.engine.exec.Memory;
import dev.kastor.engine.exec.MemoryCapException;
import dev.kastor.engine.exec.Value;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.partition.Rendezvous;
import dev.kastor.engine.tensor.DType;
import dev.kastor.engine.tensor.Shape;
import dev.kastor.engine.tensor.Tensor;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.StreamCorruptedException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What goes over a connection: a greeting, then values and failures.
 *
 * <p>Numbers are big-endian; the elements of a tensor are as they are in memory, little-endian.
 */
final class Frames {
  private static final int MAGIC = 0x4B415331; // "KAS1"
  private static final int VALUE = 1;
  private static final int FAILURE = 2;
  private static final int SPARSE = 3;
  private static final int FLOATS = 0;
  private static final int INTEGERS = 1;
  private static final int MOST_AXES = 16;
  private static final int MOST_REASON = 4000;
  private static final int CHUNK = 1 << 16;

  /** What a frame says. */
  sealed interface Frame {
    /** A value for a device, held by whoever reads it. */
    record Arrival(Rendezvous.Key key, String device, Value value) implements Frame {}

    /** A run that failed elsewhere. */
    record Failure(String run, String why) implements Frame {}
  }

  private Frames() {}

  /** Says who connects. */
  static void greet(DataOutputStream out, String process) throws IOException {
    out.writeInt(MAGIC);
    out.writeUTF(process);
    out.flush();
  }

  /** Reads who connects. */
  static String greeting(DataInputStream in) throws IOException {
    int magic = in.readInt();
    if (magic != MAGIC) {
      throw new StreamCorruptedException("a greeting begins with %08x".formatted(magic));
    }
    return in.readUTF();
  }

  /** Writes a value; rows of zeros are left out where that makes it smaller. Gives its bytes. */
  static long value(DataOutputStream out, Rendezvous.Key key, String device, Tensor tensor)
      throws IOException {
    Rows rows = Rows.of(tensor);
    out.writeByte(rows.worthwhile() ? SPARSE : VALUE);
    out.writeUTF(key.run());
    out.writeUTF(key.name());
    out.writeUTF(device);
    out.writeByte(tensor.dtype() == DType.F32 ? FLOATS : INTEGERS);
    int[] extents = tensor.shape().extents();
    out.writeByte(extents.length);
    for (int extent : extents) {
      out.writeInt(extent);
    }
    long bytes = (long) tensor.shape().elements() * tensor.dtype().bytes();
    if (rows.worthwhile()) {
      bytes = rows.write(out);
    } else {
      write(out, tensor.segment(), 0, bytes);
    }
    out.flush();
    return bytes;
  }

  /** Writes bytes of a tensor. */
  static void write(DataOutputStream out, MemorySegment segment, long from, long bytes)
      throws IOException {
    byte[] chunk = new byte[(int) Math.min(CHUNK, bytes)];
    for (long at = 0; at < bytes; at += chunk.length) {
      int length = (int) Math.min(chunk.length, bytes - at);
      MemorySegment.copy(segment, ValueLayout.JAVA_BYTE, from + at, chunk, 0, length);
      out.write(chunk, 0, length);
    }
  }

  /** Reads bytes of a tensor. */
  static void read(DataInputStream in, MemorySegment segment, long from, long bytes)
      throws IOException {
    byte[] chunk = new byte[(int) Math.min(CHUNK, bytes)];
    for (long at = 0; at < bytes; at += chunk.length) {
      int length = (int) Math.min(chunk.length, bytes - at);
      in.readFully(chunk, 0, length);
      MemorySegment.copy(chunk, 0, segment, ValueLayout.JAVA_BYTE, from + at, length);
    }
  }

  static void failure(DataOutputStream out, String run, String why) throws IOException {
    out.writeByte(FAILURE);
    out.writeUTF(run);
    out.writeUTF(why.substring(0, Math.min(why.length(), MOST_REASON)));
    out.flush();
  }

  /**
   * The next frame; null at the end.
   *
   * @param memories where the values for a device go, by its name
   * @throws StreamCorruptedException if it is malformed; says how
   */
  static @Nullable Frame read(DataInputStream in, Function<String, @Nullable Memory> memories)
      throws IOException {
    int kind = in.read();
    return switch (kind) {
      case -1 -> null;
      case VALUE, SPARSE -> arrival(in, kind == SPARSE, memories);
      case FAILURE -> new Frame.Failure(in.readUTF(), in.readUTF());
      default -> throw new StreamCorruptedException("a frame is of kind " + kind);
    };
  }

  private static Frame arrival(
      DataInputStream in, boolean sparse, Function<String, @Nullable Memory> memories)
      throws IOException {
    Rendezvous.Key key = new Rendezvous.Key(in.readUTF(), in.readUTF());
    String device = in.readUTF();
    Memory memory = memories.apply(device);
    if (memory == null) {
      throw new StreamCorruptedException(
          "a value is for '%s', which is not here".formatted(device));
    }
    Type type = type(in);
    long bytes = (long) type.shape().elements() * type.dtype().bytes();
    Value value;
    try {
      value = memory.allocate(type, key.name());
    } catch (MemoryCapException e) {
      if (sparse) {
        Rows.skip(in, type);
      } else {
        in.skipNBytes(bytes); // What else comes over this connection goes on.
      }
      return new Frame.Failure(key.run(), String.valueOf(e.getMessage()));
    }
    try {
      if (sparse) {
        Rows.read(in, value.tensor());
      } else {
        read(in, value.tensor().segment(), 0, bytes);
      }
      return new Frame.Arrival(key, device, value);
    } catch (IOException e) {
      value.release();
      throw e;
    }
  }

  private static Type type(DataInputStream in) throws IOException {
    int number = in.readUnsignedByte();
    if (number != FLOATS && number != INTEGERS) {
      throw new StreamCorruptedException("a value has element type " + number);
    }
    int axes = in.readUnsignedByte();
    if (axes > MOST_AXES) {
      throw new StreamCorruptedException("a value has %d axes".formatted(axes));
    }
    int[] extents = new int[axes];
    long elements = 1;
    for (int i = 0; i < axes; i++) {
      extents[i] = in.readInt();
      if (extents[i] < 1 || (elements *= extents[i]) > Integer.MAX_VALUE) {
        throw new StreamCorruptedException(
            "axis %d of a value has extent %d".formatted(i, extents[i]));
      }
    }
    return new Type(Shape.of(extents), number == FLOATS ? DType.F32 : DType.I32);
  }
}
