package dev.kastor.engine.export;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.LocalDateTime;
import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.zip.CRC32;
import java.util.zip.CheckedOutputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * Writer of npz: a zip file, nothing of it compressed, with a file NAME.npy for each tensor (NumPy,
 * "NEP 1: a simple file format for NumPy arrays", version 1.0).
 */
final class Npz {
  private static final byte[] MAGIC = {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
  private static final int ALIGNMENT = 64;

  /** The earliest time that a zip file can have; those of equal models are equal. */
  private static final LocalDateTime NO_TIME = LocalDateTime.of(1980, 1, 1, 0, 0);

  private Npz() {}

  static void write(TrainedModel model, OutputStream out) throws IOException {
    // The stream belongs to the caller.
    @SuppressWarnings("resource")
    ZipOutputStream zip = new ZipOutputStream(out, StandardCharsets.UTF_8);
    for (NamedTensor tensor : model.tensors()) {
      byte[] header = header(tensor);
      ZipEntry entry = new ZipEntry(tensor.name() + ".npy");
      entry.setTimeLocal(NO_TIME);
      entry.setMethod(ZipEntry.STORED);
      entry.setSize(header.length + tensor.bytes());
      entry.setCrc(checksum(header, tensor));
      zip.putNextEntry(entry);
      zip.write(header);
      tensor.write(zip);
      zip.closeEntry();
    }
    zip.finish();
  }

  private static long checksum(byte[] header, NamedTensor tensor) throws IOException {
    try (CheckedOutputStream sum =
        new CheckedOutputStream(OutputStream.nullOutputStream(), new CRC32())) {
      sum.write(header);
      tensor.write(sum);
      return sum.getChecksum().getValue();
    }
  }

  private static byte[] header(NamedTensor tensor) {
    // A tuple in Python's words, where one of a single element ends with a comma.
    String shape =
        Arrays.stream(tensor.shape().extents())
            .mapToObj(extent -> extent + ",")
            .collect(Collectors.joining(" ", "(", ")"));
    String text = "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }".formatted(shape);
    int before = MAGIC.length + Short.BYTES;
    int whole = Math.ceilDiv(before + text.length() + 1, ALIGNMENT) * ALIGNMENT;
    ByteArrayOutputStream header = new ByteArrayOutputStream(whole);
    header.writeBytes(MAGIC);
    ByteBuffer length = ByteBuffer.allocate(Short.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    header.writeBytes(length.putShort((short) (whole - before)).array());
    header.writeBytes(text.getBytes(StandardCharsets.US_ASCII));
    header.writeBytes(
        " ".repeat(whole - before - text.length() - 1).getBytes(StandardCharsets.US_ASCII));
    header.write('\n');
    return header.toByteArray();
  }
}
