package dev.kastor.cli.metrics;

import java.io.ByteArrayOutputStream;

/**
 * Writer of one protocol buffer message, for the few kinds of fields that events have.
 *
 * <p>Source: "Protocol Buffers: Encoding", protobuf.dev.
 */
final class ProtoWriter {
  static final int VARINT = 0;
  static final int FIXED64 = 1;
  static final int LENGTH = 2;
  static final int FIXED32 = 5;
  static final int TYPE_BITS = 3;
  static final int VARINT_BITS = 7;

  private static final int MORE = 1 << VARINT_BITS;

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();

  ProtoWriter number(int field, double value) {
    return key(field, FIXED64).fixed(Double.doubleToLongBits(value), Long.BYTES);
  }

  ProtoWriter number(int field, float value) {
    return key(field, FIXED32).fixed(Float.floatToIntBits(value), Integer.BYTES);
  }

  ProtoWriter number(int field, long value) {
    return key(field, VARINT).varint(value);
  }

  /** Text as UTF-8, or a message. */
  ProtoWriter bytes(int field, byte[] value) {
    key(field, LENGTH).varint(value.length).out.writeBytes(value);
    return this;
  }

  byte[] end() {
    return out.toByteArray();
  }

  private ProtoWriter key(int field, int type) {
    return varint((long) field << TYPE_BITS | type);
  }

  private ProtoWriter fixed(long bits, int bytes) {
    for (int i = 0; i < bytes; i++) {
      out.write((int) (bits >>> (Byte.SIZE * i)));
    }
    return this;
  }

  private ProtoWriter varint(long value) {
    long left = value;
    while (left >= MORE || left < 0) {
      out.write((int) (left & (MORE - 1)) | MORE);
      left >>>= VARINT_BITS;
    }
    out.write((int) left);
    return this;
  }
}
