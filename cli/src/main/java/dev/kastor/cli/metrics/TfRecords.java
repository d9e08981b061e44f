package dev.kastor.cli.metrics;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Framing of TFRecord files: length, masked CRC-32C of the length, data, masked CRC-32C of the
 * data, all numbers with the lowest byte first.
 *
 * <p>Source: TensorFlow, {@code tensorflow/core/lib/io/record_writer.h} and the guide "TFRecord and
 * tf.train.Example", section "TFRecords format details".
 */
final class TfRecords {
  private static final int MASK_DELTA = 0xA282EAD8;
  private static final int LENGTH_BYTES = Long.BYTES;
  private static final int CRC_BYTES = Integer.BYTES;
  private static final int HEADER_BYTES = LENGTH_BYTES + CRC_BYTES;

  /** Far more than an event of ours has. */
  private static final int MOST_BYTES = 1 << 20;

  private TfRecords() {}

  /** Bytes that frame data of that length. */
  static int framed(int length) {
    return HEADER_BYTES + length + CRC_BYTES;
  }

  /** The record of that data. */
  static byte[] record(byte[] data) {
    ByteBuffer record = ByteBuffer.allocate(framed(data.length)).order(ByteOrder.LITTLE_ENDIAN);
    record.putLong(data.length);
    record.putInt(maskedCrc(record.array(), LENGTH_BYTES));
    record.put(data);
    record.putInt(maskedCrc(data, data.length));
    return record.array();
  }

  /** Data of the next record; null where the file ends, be it within a record. */
  static byte @Nullable [] next(InputStream file) throws IOException, DamagedFileException {
    byte[] header = file.readNBytes(HEADER_BYTES);
    if (header.length < HEADER_BYTES) {
      return null;
    }
    ByteBuffer numbers = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);
    long length = numbers.getLong();
    if (numbers.getInt() != maskedCrc(header, LENGTH_BYTES) || length < 0 || length > MOST_BYTES) {
      throw new DamagedFileException("the length of a record is damaged");
    }
    byte[] data = file.readNBytes((int) length);
    byte[] crc = file.readNBytes(CRC_BYTES);
    if (crc.length < CRC_BYTES) {
      return null;
    }
    if (ByteBuffer.wrap(crc).order(ByteOrder.LITTLE_ENDIAN).getInt()
        != maskedCrc(data, data.length)) {
      throw new DamagedFileException("a record is damaged");
    }
    return data;
  }

  private static int maskedCrc(byte[] bytes, int length) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, 0, length);
    return Integer.rotateRight((int) crc.getValue(), 15) + MASK_DELTA;
  }
}
