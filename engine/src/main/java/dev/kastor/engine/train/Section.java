package dev.kastor.engine.train;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.regex.Pattern;

/**
 * Named array of a training state.
 *
 * <p>The elements are owned by whoever made the section and not copied; they are in the byte order
 * of the machine, which is little-endian on all that Kastor runs on.
 *
 * @param name letters, digits, dots, hyphens and underscores; the first part says whose state it is
 */
public record Section(String name, Type type, MemorySegment values) {
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,200}");

  public Section {
    if (values.byteSize() % type.bytes() != 0) {
      throw new IllegalArgumentException(
          "section %s has %d bytes, no whole number of elements of %d"
              .formatted(name, values.byteSize(), type.bytes()));
    }
  }

  /** Type of elements, with its number in files. */
  public enum Type {
    /** IEEE 754 of 4 bytes. */
    F32(1, Float.BYTES),
    /** IEEE 754 of 8 bytes. */
    F64(2, Double.BYTES),
    /** Whole numbers of 8 bytes. */
    I64(3, Long.BYTES);

    private final int number;
    private final int bytes;

    Type(int number, int bytes) {
      this.number = number;
      this.bytes = bytes;
    }

    /** Its number in files. */
    public int number() {
      return number;
    }

    /** Bytes of an element. */
    public int bytes() {
      return bytes;
    }
  }

  /**
   * Name, type and length of a section: what two states must have in common.
   *
   * @param length elements
   */
  public record Form(String name, Type type, long length) {
    public Form {
      if (!NAME.matcher(name).matches() || length < 0) {
        throw new IllegalArgumentException(
            "a section has a name of 1 to 200 letters, digits, dots, hyphens or underscores and no negative length: '%s', %d"
                .formatted(name, length));
      }
    }

    /** Bytes of all elements. */
    public long bytes() {
      return Math.multiplyExact(length, type.bytes());
    }

    @Override
    public String toString() {
      return "%s (%d)".formatted(name, length);
    }
  }

  /** A section of an array, which is not copied. */
  public static Section of(String name, float[] values) {
    return new Section(name, Type.F32, MemorySegment.ofArray(values));
  }

  /** A section of an array, which is not copied. */
  public static Section of(String name, double... values) {
    return new Section(name, Type.F64, MemorySegment.ofArray(values));
  }

  /** A section of an array, which is not copied. */
  public static Section of(String name, long... values) {
    return new Section(name, Type.I64, MemorySegment.ofArray(values));
  }

  /** A section of zeros on the heap. */
  public static Section zeros(Form form) {
    int length = Math.toIntExact(form.length());
    return switch (form.type()) {
      case F32 -> of(form.name(), new float[length]);
      case F64 -> of(form.name(), new double[length]);
      case I64 -> of(form.name(), new long[length]);
    };
  }

  /** Name, type and length. */
  public Form form() {
    return new Form(name, type, values.byteSize() / type.bytes());
  }

  /** The floats: the array itself where the section was made of one, else a copy. */
  public float[] floats() {
    return values
        .heapBase()
        .filter(float[].class::isInstance)
        .map(float[].class::cast)
        .filter(array -> (long) array.length * Float.BYTES == values.byteSize())
        .orElseGet(() -> values.toArray(ValueLayout.JAVA_FLOAT_UNALIGNED));
  }

  /** A copy of the doubles. */
  public double[] doubles() {
    return values.toArray(ValueLayout.JAVA_DOUBLE_UNALIGNED);
  }

  /** A copy of the whole numbers. */
  public long[] longs() {
    return values.toArray(ValueLayout.JAVA_LONG_UNALIGNED);
  }
}
