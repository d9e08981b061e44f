package dev.kastor.engine.partition.tcp;

import dev.kastor.engine.graph.Type;
import dev.kastor.engine.tensor.DType;
import dev.kastor.engine.tensor.Tensor;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.StreamCorruptedException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.BitSet;

/**
 * Which rows of a tensor, along its last axis, hold anything but zeros: in the form in which a
 * tensor travels that holds few, one bit for each row and then those rows.
 */
final class Rows {
  private final Tensor tensor;
  private final BitSet filled;

  private Rows(Tensor tensor, BitSet filled) {
    this.tensor = tensor;
    this.filled = filled;
  }

  /** Looks at a tensor; of those with fewer than two axes nothing is left out. */
  static Rows of(Tensor tensor) {
    BitSet filled = new BitSet();
    if (tensor.dtype() == DType.F32 && tensor.shape().rank() > 1) {
      int width = tensor.shape().extent(-1);
      int rows = tensor.shape().elements() / width;
      for (int row = 0; row < rows; row++) {
        if (isFilled(tensor.segment(), (long) row * width, width)) {
          filled.set(row);
        }
      }
    }
    return new Rows(tensor, filled);
  }

  private static boolean isFilled(MemorySegment segment, long from, int width) {
    for (long i = from; i < from + width; i++) {
      // By its bits: a negative zero is not left out.
      if (segment.getAtIndex(ValueLayout.JAVA_INT, i) != 0) {
        return true;
      }
    }
    return false;
  }

  /** Whether a quarter of the rows or more need not travel. */
  boolean worthwhile() {
    if (tensor.dtype() != DType.F32 || tensor.shape().rank() < 2) {
      return false;
    }
    int rows = tensor.shape().elements() / tensor.shape().extent(-1);
    return 4L * filled.cardinality() <= 3L * rows;
  }

  /** Writes them; gives how many bytes these are. */
  long write(DataOutputStream out) throws IOException {
    int width = tensor.shape().extent(-1);
    int rows = tensor.shape().elements() / width;
    byte[] bits = new byte[Math.ceilDiv(rows, Byte.SIZE)];
    byte[] set = filled.toByteArray();
    System.arraycopy(set, 0, bits, 0, set.length);
    out.write(bits);
    long rowBytes = (long) width * Float.BYTES;
    for (int row = filled.nextSetBit(0); row >= 0; row = filled.nextSetBit(row + 1)) {
      Frames.write(out, tensor.segment(), row * rowBytes, rowBytes);
    }
    return bits.length + filled.cardinality() * rowBytes;
  }

  /** Reads the rows of a tensor; the others become zero. */
  static void read(DataInputStream in, Tensor tensor) throws IOException {
    Type type = new Type(tensor.shape(), tensor.dtype());
    BitSet filled = bits(in, type);
    long rowBytes = (long) tensor.shape().extent(-1) * Float.BYTES;
    long bytes = (long) tensor.shape().elements() * Float.BYTES;
    tensor.segment().asSlice(0, bytes).fill((byte) 0);
    for (int row = filled.nextSetBit(0); row >= 0; row = filled.nextSetBit(row + 1)) {
      Frames.read(in, tensor.segment(), row * rowBytes, rowBytes);
    }
  }

  /** Passes over rows for which there is no room. */
  static void skip(DataInputStream in, Type type) throws IOException {
    require(type);
    // A byte at a time: there may be no room for the bits either.
    long filled = 0;
    for (int left = Math.ceilDiv(rows(type), Byte.SIZE); left > 0; left--) {
      filled += Integer.bitCount(in.readUnsignedByte());
    }
    in.skipNBytes(filled * type.shape().extent(-1) * Float.BYTES);
  }

  private static void require(Type type) throws StreamCorruptedException {
    if (type.dtype() != DType.F32 || type.shape().rank() < 2) {
      throw new StreamCorruptedException("rows of " + type + " cannot be left out");
    }
  }

  private static int rows(Type type) {
    return type.shape().elements() / type.shape().extent(-1);
  }

  private static BitSet bits(DataInputStream in, Type type) throws IOException {
    require(type);
    int rows = rows(type);
    byte[] bits = new byte[Math.ceilDiv(rows, Byte.SIZE)];
    in.readFully(bits);
    BitSet filled = BitSet.valueOf(bits);
    if (filled.length() > rows) {
      throw new StreamCorruptedException(
          "row %d of %s is not there".formatted(filled.length() - 1, type));
    }
    return filled;
  }
}
