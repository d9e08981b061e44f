package dev.kastor.engine.checkpoint;

import dev.kastor.engine.train.Section;
import dev.kastor.engine.train.TrainingState;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The byte form of a training state, for checkpoints and for streaming it to a new replica.
 *
 * <p>Little-endian: the length of the table (4 bytes); the table, for each section the length of
 * its name (2), the name (UTF-8), the number of its type (1) and its elements (8); then the
 * elements of the sections in the same order, without holes. Bit patterns survive unchanged, so a
 * decoded replica is identical to the encoded one. The form carries no checksum: the file or the
 * connection around it does.
 */
public final class StateCodec {
  /** Version of the form in files. Who changes it also raises that of the ring protocol. */
  static final int VERSION = 2;

  /** Longer tables than this are of no state. */
  private static final int MOST_TABLE_BYTES = 1 << 20;

  private static final int ENTRY_BYTES = Short.BYTES + 1 + Long.BYTES;

  private StateCodec() {}

  /** Bytes that {@link #encode} writes for a state of these sections. */
  public static long encodedBytes(List<Section.Form> forms) {
    return tableBytes(forms) + elementBytes(forms);
  }

  /** Bytes of the elements alone. */
  static long elementBytes(List<Section.Form> forms) {
    return forms.stream().mapToLong(Section.Form::bytes).reduce(0, Math::addExact);
  }

  private static int tableBytes(List<Section.Form> forms) {
    int bytes = Integer.BYTES;
    for (Section.Form form : forms) {
      bytes += ENTRY_BYTES + form.name().getBytes(StandardCharsets.UTF_8).length;
    }
    return bytes;
  }

  /** What stands before the elements. */
  static byte[] table(List<Section.Form> forms) {
    int bytes = tableBytes(forms);
    ByteBuffer table = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    table.putInt(bytes - Integer.BYTES);
    for (Section.Form form : forms) {
      byte[] name = form.name().getBytes(StandardCharsets.UTF_8);
      table.putShort((short) name.length).put(name);
      table.put((byte) form.type().number()).putLong(form.length());
    }
    return table.array();
  }

  /**
   * Bytes of the table behind its length.
   *
   * @param told its length as it was read
   * @param stateBytes of the whole state
   * @throws CheckpointException if no table is so long
   */
  static int tableLength(int told, long stateBytes) throws CheckpointException {
    if (told < 0 || told > MOST_TABLE_BYTES || told > stateBytes - Integer.BYTES) {
      throw new CheckpointException(
          "the table of its sections is said to have %d bytes".formatted(told));
    }
    return told;
  }

  /**
   * The sections of a table.
   *
   * @param table without its length
   * @param stateBytes of the whole state
   * @throws CheckpointException if it is no table, or its sections do not make so many bytes
   */
  static List<Section.Form> forms(ByteBuffer table, long stateBytes) throws CheckpointException {
    table.order(ByteOrder.LITTLE_ENDIAN);
    long elements = stateBytes - Integer.BYTES - table.remaining();
    List<Section.Form> forms = new ArrayList<>();
    try {
      while (table.hasRemaining()) {
        byte[] name = new byte[Short.toUnsignedInt(table.getShort())];
        table.get(name);
        Section.Type type = type(table.get());
        forms.add(
            new Section.Form(new String(name, StandardCharsets.UTF_8), type, table.getLong()));
      }
      if (elementBytes(forms) == elements) {
        return forms;
      }
    } catch (BufferUnderflowException | IllegalArgumentException | ArithmeticException e) {
      throw new CheckpointException(
          "the table of its sections cannot be read: " + e.getMessage(), e);
    }
    throw new CheckpointException(
        "its sections have %d bytes together and not %d".formatted(elementBytes(forms), elements));
  }

  private static Section.Type type(int number) throws CheckpointException {
    for (Section.Type type : Section.Type.values()) {
      if (type.number() == number) {
        return type;
      }
    }
    throw new CheckpointException("a section is of type %d, which is unknown".formatted(number));
  }

  /** Encodes into a segment taken from the allocator. */
  public static MemorySegment encode(TrainingState state, SegmentAllocator allocator) {
    byte[] table = table(state.forms());
    MemorySegment target = allocator.allocate(encodedBytes(state.forms()), Long.BYTES);
    MemorySegment.copy(MemorySegment.ofArray(table), 0, target, 0, table.length);
    long at = table.length;
    for (Section section : state.sections()) {
      MemorySegment.copy(section.values(), 0, target, at, section.values().byteSize());
      at += section.values().byteSize();
    }
    return target;
  }

  /**
   * Decodes a whole segment without a copy: the sections are parts of it.
   *
   * @throws CheckpointException if the bytes are not one state
   */
  public static TrainingState decode(MemorySegment source) throws CheckpointException {
    long bytes = source.byteSize();
    if (bytes < Integer.BYTES) {
      throw new CheckpointException("a training state has more than %d bytes".formatted(bytes));
    }
    ByteBuffer first = source.asSlice(0, Integer.BYTES).asByteBuffer();
    int length = tableLength(first.order(ByteOrder.LITTLE_ENDIAN).getInt(), bytes);
    MemorySegment table = source.asSlice(Integer.BYTES, length);
    long at = (long) Integer.BYTES + length;
    List<Section> sections = new ArrayList<>();
    for (Section.Form form : forms(table.asByteBuffer(), bytes)) {
      sections.add(new Section(form.name(), form.type(), source.asSlice(at, form.bytes())));
      at += form.bytes();
    }
    try {
      return new TrainingState(sections);
    } catch (IllegalArgumentException e) {
      throw new CheckpointException(String.valueOf(e.getMessage()), e);
    }
  }
}
