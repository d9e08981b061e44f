package dev.kastor.cli.metrics;

import dev.kastor.engine.export.ProtoWriter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Reader of the fields of one protocol buffer message. */
final class ProtoReader {
  private static final byte[] NO_BYTES = {};

  private final ByteBuffer message;
  private int number;
  private long bits;
  private byte[] bytes = NO_BYTES;

  ProtoReader(byte[] message) {
    this.message = ByteBuffer.wrap(message).order(ByteOrder.LITTLE_ENDIAN);
  }

  /**
   * Reads the next field, if there is one.
   *
   * @throws java.nio.BufferUnderflowException if the message ends within it
   * @throws IllegalArgumentException if it is none
   */
  boolean next() {
    if (!message.hasRemaining()) {
      return false;
    }
    long key = varint();
    number = (int) (key >>> ProtoWriter.TYPE_BITS);
    int type = (int) key & ((1 << ProtoWriter.TYPE_BITS) - 1);
    bits = 0;
    bytes = NO_BYTES;
    switch (type) {
      case ProtoWriter.VARINT -> bits = varint();
      case ProtoWriter.FIXED64 -> bits = message.getLong();
      case ProtoWriter.FIXED32 -> bits = message.getInt();
      case ProtoWriter.LENGTH -> {
        long length = varint();
        if (length < 0 || length > message.remaining()) {
          throw new IllegalArgumentException("a field is longer than its message");
        }
        bytes = new byte[(int) length];
        message.get(bytes);
      }
      default -> throw new IllegalArgumentException("there is no wire type " + type);
    }
    return true;
  }

  /** Number of the field. */
  int number() {
    return number;
  }

  /** Its bits, where it is a number. */
  long bits() {
    return bits;
  }

  /** Its bytes, where it is text or a message. */
  byte[] bytes() {
    return bytes.clone();
  }

  private long varint() {
    long value = 0;
    for (int shift = 0; shift < Long.SIZE; shift += ProtoWriter.VARINT_BITS) {
      byte next = message.get();
      value |= (next & 0x7FL) << shift;
      if (next >= 0) {
        return value;
      }
    }
    throw new IllegalArgumentException("a number is longer than 64 bits");
  }
}
