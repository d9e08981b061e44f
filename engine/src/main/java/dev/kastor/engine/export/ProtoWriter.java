package dev.kastor.engine.export;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Writer of one protocol buffer message, for the few kinds of fields that ours have. Tensors in it
 * are not copied.
 *
 * <p>Source: "Protocol Buffers: Encoding", protobuf.dev.
 */
public final class ProtoWriter {
  public static final int VARINT = 0;
  public static final int FIXED64 = 1;
  public static final int LENGTH = 2;
  public static final int FIXED32 = 5;
  public static final int TYPE_BITS = 3;
  public static final int VARINT_BITS = 7;

  private static final int MORE = 1 << VARINT_BITS;

  /** Part of a message. */
  private interface Part {
    void writeTo(OutputStream out) throws IOException;
  }

  private final List<Part> parts = new ArrayList<>();
  private ByteArrayOutputStream last = part();
  private long length;

  public ProtoWriter number(int field, double value) {
    return key(field, FIXED64).fixed(Double.doubleToLongBits(value), Long.BYTES);
  }

  public ProtoWriter number(int field, float value) {
    return key(field, FIXED32).fixed(Float.floatToIntBits(value), Integer.BYTES);
  }

  public ProtoWriter number(int field, long value) {
    return key(field, VARINT).varint(value);
  }

  /** Text as UTF-8, or a message. */
  public ProtoWriter bytes(int field, byte[] value) {
    key(field, LENGTH).varint(value.length).last.writeBytes(value);
    length += value.length;
    return this;
  }

  /** Text. */
  public ProtoWriter text(int field, String value) {
    return bytes(field, value.getBytes(StandardCharsets.UTF_8));
  }

  /** A message, to which nothing is added any more. */
  public ProtoWriter message(int field, ProtoWriter value) {
    return part(key(field, LENGTH).varint(value.length), value::writeTo, value.length);
  }

  /** The elements of a tensor as bytes. */
  ProtoWriter tensor(int field, NamedTensor value) {
    return part(key(field, LENGTH).varint(value.bytes()), value::write, value.bytes());
  }

  private static ProtoWriter part(ProtoWriter to, Part part, long bytes) {
    to.parts.add(part);
    to.length += bytes;
    to.last = to.part();
    return to;
  }

  private ByteArrayOutputStream part() {
    ByteArrayOutputStream next = new ByteArrayOutputStream();
    parts.add(next::writeTo);
    return next;
  }

  /** Bytes of the message. */
  public long length() {
    return length;
  }

  /** Writes the message; the stream is not closed. */
  public void writeTo(OutputStream out) throws IOException {
    for (Part part : parts) {
      part.writeTo(out);
    }
  }

  /** The message in memory. */
  public byte[] end() {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    try {
      writeTo(all);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return all.toByteArray();
  }

  private ProtoWriter key(int field, int type) {
    return varint((long) field << TYPE_BITS | type);
  }

  private ProtoWriter fixed(long bits, int bytes) {
    for (int i = 0; i < bytes; i++) {
      put((int) (bits >>> (Byte.SIZE * i)));
    }
    return this;
  }

  private ProtoWriter varint(long value) {
    long left = value;
    while (left >= MORE || left < 0) {
      put((int) (left & (MORE - 1)) | MORE);
      left >>>= VARINT_BITS;
    }
    put((int) left);
    return this;
  }

  private void put(int value) {
    last.write(value);
    length++;
  }
}
