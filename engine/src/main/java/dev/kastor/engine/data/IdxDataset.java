package dev.kastor.engine.data;

import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Reads images and labels in the IDX format of MNIST and its kind (LeCun, Cortes and Burges, "The
 * MNIST database", file formats), plain or gzipped.
 */
public final class IdxDataset {
  private static final int IMAGES_MAGIC = 0x0803;
  private static final int LABELS_MAGIC = 0x0801;

  private IdxDataset() {}

  /** Reads a folder with the four files under their usual names, each optionally {@code .gz}. */
  public static LabelledImages readFolder(Path folder) throws DataException {
    ImageSet training =
        read(find(folder, "train-images-idx3-ubyte"), find(folder, "train-labels-idx1-ubyte"));
    ImageSet heldOut =
        read(find(folder, "t10k-images-idx3-ubyte"), find(folder, "t10k-labels-idx1-ubyte"));
    if (training.features() != heldOut.features()) {
      throw new DataException(
          folder,
          "training images are %dx%d but test images %dx%d"
              .formatted(training.height(), training.width(), heldOut.height(), heldOut.width()));
    }
    int classes = Math.max(training.classes(), heldOut.classes());
    return new LabelledImages(withClasses(training, classes), withClasses(heldOut, classes));
  }

  /** Reads an image file and its label file; pixels become numbers in [0, 1]. */
  public static ImageSet read(Path images, Path labels) throws DataException {
    int count;
    int height;
    int width;
    byte[] bytes;
    try (BinaryFile file = new BinaryFile(images)) {
      checkMagic(images, file.readInt("the magic number"), IMAGES_MAGIC, "images");
      count =
          size(images, file.readInt("the number of images"), "the number of images at offset 4");
      height = size(images, file.readInt("the height"), "the height at offset 8");
      width = size(images, file.readInt("the width"), "the width at offset 12");
      long total = (long) count * height * width;
      if (total > Integer.MAX_VALUE - 16) {
        throw new DataException(
            images, "%d images of %dx%d are more than 2 GiB".formatted(count, height, width));
      }
      bytes =
          file.read((int) total, "pixels of %d images of %dx%d".formatted(count, height, width));
      file.expectEnd();
    }
    int[] classOf = readLabels(labels, images, count);
    float[] pixels = new float[bytes.length];
    for (int i = 0; i < pixels.length; i++) {
      pixels[i] = (bytes[i] & 0xff) / 255f;
    }
    int classes = 1;
    for (int label : classOf) {
      classes = Math.max(classes, label + 1);
    }
    return new ImageSet(height, width, 1, classes, pixels, classOf);
  }

  private static int[] readLabels(Path labels, Path images, int expected) throws DataException {
    try (BinaryFile file = new BinaryFile(labels)) {
      checkMagic(labels, file.readInt("the magic number"), LABELS_MAGIC, "labels");
      int count = file.readInt("the number of labels");
      if (count != expected) {
        throw new DataException(
            labels,
            "the number of labels at offset 4 is %d but %s holds %d images"
                .formatted(count, images.getFileName(), expected));
      }
      byte[] bytes = file.read(count, "%d labels".formatted(count));
      file.expectEnd();
      int[] classOf = new int[count];
      for (int i = 0; i < count; i++) {
        classOf[i] = bytes[i] & 0xff;
      }
      return classOf;
    }
  }

  private static Path find(Path folder, String name) throws DataException {
    for (String candidate : new String[] {name, name + ".gz"}) {
      Path file = folder.resolve(candidate);
      if (Files.isRegularFile(file)) {
        return file;
      }
    }
    throw new DataException(folder, "neither %s nor %s.gz is there".formatted(name, name));
  }

  private static void checkMagic(Path file, int magic, int expected, String what)
      throws DataException {
    if (magic != expected) {
      throw new DataException(
          file,
          "the magic number at offset 0 is 0x%08x, but IDX %s of unsigned bytes begin with 0x%08x"
              .formatted(magic, what, expected));
    }
  }

  private static int size(Path file, int value, String what) throws DataException {
    if (value < 1) {
      throw new DataException(file, "%s must be at least 1 but is %d".formatted(what, value));
    }
    return value;
  }

  private static ImageSet withClasses(ImageSet set, int classes) {
    return new ImageSet(
        set.height(), set.width(), set.channels(), classes, set.pixels(), set.labels());
  }
}
