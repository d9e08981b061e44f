package dev.kastor.engine.data;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Reads the binary version of CIFAR-10 (Krizhevsky, 2009): records of one label byte and 3072 pixel
 * bytes, by colour, then row, then column.
 */
public final class Cifar10Dataset {
  private static final int SIDE = 32;
  private static final int CHANNELS = 3;
  private static final int CLASSES = 10;
  private static final int PLANE = SIDE * SIDE;
  private static final int RECORD_BYTES = 1 + CHANNELS * PLANE;

  private Cifar10Dataset() {}

  /** Reads a folder with {@code data_batch_1.bin} to {@code _5.bin} and {@code test_batch.bin}. */
  public static LabelledImages readFolder(Path folder) throws DataException {
    return new LabelledImages(read(training(folder)), read(List.of(heldOut(folder))));
  }

  /** Whether a folder has images of this format. */
  public static boolean isIn(Path folder) {
    return Files.exists(training(folder).getFirst());
  }

  /** Looks at the sizes of the files of such a folder. */
  public static Glance glance(Path folder) throws DataException {
    long examples = 0;
    for (Path file : training(folder)) {
      examples += records(file);
    }
    records(heldOut(folder));
    return Glance.of(SIDE, SIDE, CHANNELS, examples);
  }

  private static List<Path> training(Path folder) {
    return IntStream.rangeClosed(1, 5)
        .mapToObj(i -> folder.resolve("data_batch_" + i + ".bin"))
        .toList();
  }

  private static Path heldOut(Path folder) {
    return folder.resolve("test_batch.bin");
  }

  /** Reads files one after the other; pixels become numbers in [0, 1], channels last. */
  public static ImageSet read(List<Path> files) throws DataException {
    int count = 0;
    for (Path file : files) {
      count += records(file);
    }
    float[] pixels = new float[Math.multiplyExact(count, CHANNELS * PLANE)];
    int[] labels = new int[count];
    int example = 0;
    for (Path file : files) {
      int records = records(file);
      try (BinaryFile in = new BinaryFile(file)) {
        for (int i = 0; i < records; i++) {
          byte[] bytes = in.read(RECORD_BYTES, "record %d".formatted(i));
          if (bytes[0] < 0 || bytes[0] >= CLASSES) {
            throw new DataException(
                file,
                "record %d at offset %d has label %d, but labels are 0 to 9"
                    .formatted(i, (long) i * RECORD_BYTES, bytes[0] & 0xff));
          }
          labels[example] = bytes[0];
          toChannelsLast(bytes, pixels, example * CHANNELS * PLANE);
          example++;
        }
        in.expectEnd();
      }
    }
    return new ImageSet(SIDE, SIDE, CHANNELS, CLASSES, pixels, labels);
  }

  private static int records(Path file) throws DataException {
    long bytes;
    try {
      bytes = Files.size(file);
    } catch (IOException e) {
      throw new DataException(file, e);
    }
    if (bytes == 0 || bytes % RECORD_BYTES != 0) {
      throw new DataException(
          file,
          "its size of %d bytes is not a multiple of the record size %d: truncated in record %d"
              .formatted(bytes, RECORD_BYTES, bytes / RECORD_BYTES));
    }
    if (bytes > Integer.MAX_VALUE) {
      throw new DataException(file, "its size of %d bytes is above 2 GiB".formatted(bytes));
    }
    return (int) (bytes / RECORD_BYTES);
  }

  private static void toChannelsLast(byte[] bytes, float[] pixels, int offset) {
    for (int i = 0; i < PLANE; i++) {
      for (int channel = 0; channel < CHANNELS; channel++) {
        pixels[offset + i * CHANNELS + channel] = (bytes[1 + channel * PLANE + i] & 0xff) / 255f;
      }
    }
  }
}
