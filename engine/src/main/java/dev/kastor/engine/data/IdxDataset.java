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

  private static final String IMAGES = "train-images-idx3-ubyte";
  private static final String LABELS = "train-labels-idx1-ubyte";
  private static final String HELD_OUT_IMAGES = "t10k-images-idx3-ubyte";
  private static final String HELD_OUT_LABELS = "t10k-labels-idx1-ubyte";

  private IdxDataset() {}

  /** Whether a folder has images of this format. */
  public static boolean isIn(Path folder) {
    return Files.exists(folder.resolve(IMAGES)) || Files.exists(folder.resolve(IMAGES + ".gz"));
  }

  /** Looks at the headers of the files of a folder. */
  public static Glance glance(Path folder) throws DataException {
    Header training = header(folder, IMAGES, LABELS);
    header(folder, HELD_OUT_IMAGES, HELD_OUT_LABELS);
    return Glance.of(training.height(), training.width(), 1, training.count());
  }

  private static Header header(Path folder, String images, String labels) throws DataException {
    Path file = find(folder, images);
    Path labelFile = find(folder, labels);
    try (BinaryFile in = new BinaryFile(file);
        BinaryFile labelsIn = new BinaryFile(labelFile)) {
      Header header = Header.read(file, in);
      labelCount(labelFile, labelsIn, file, header.count());
      return header;
    }
  }

  /** Header of a file of images. */
  private record Header(int count, int height, int width) {
    static Header read(Path images, BinaryFile file) throws DataException {
      checkMagic(images, file.readInt("the magic number"), IMAGES_MAGIC, "images");
      int count =
          size(images, file.readInt("the number of images"), "the number of images at offset 4");
      int height = size(images, file.readInt("the height"), "the height at offset 8");
      int width = size(images, file.readInt("the width"), "the width at offset 12");
      if ((long) count * height * width > Integer.MAX_VALUE - 16) {
        throw new DataException(
            images, "%d images of %dx%d are more than 2 GiB".formatted(count, height, width));
      }
      return new Header(count, height, width);
    }
  }

  /** Reads a folder with the four files under their usual names, each optionally {@code .gz}. */
  public static LabelledImages readFolder(Path folder) throws DataException {
    ImageSet training = read(find(folder, IMAGES), find(folder, LABELS));
    ImageSet heldOut = read(find(folder, HELD_OUT_IMAGES), find(folder, HELD_OUT_LABELS));
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
    Header header;
    byte[] bytes;
    try (BinaryFile file = new BinaryFile(images)) {
      header = Header.read(images, file);
      int total = header.count() * header.height() * header.width();
      bytes =
          file.read(
              total,
              "pixels of %d images of %dx%d"
                  .formatted(header.count(), header.height(), header.width()));
      file.expectEnd();
    }
    int[] classOf = readLabels(labels, images, header.count());
    float[] pixels = new float[bytes.length];
    for (int i = 0; i < pixels.length; i++) {
      pixels[i] = (bytes[i] & 0xff) / 255f;
    }
    int classes = 1;
    for (int label : classOf) {
      classes = Math.max(classes, label + 1);
    }
    return new ImageSet(header.height(), header.width(), 1, classes, pixels, classOf);
  }

  private static int[] readLabels(Path labels, Path images, int expected) throws DataException {
    try (BinaryFile file = new BinaryFile(labels)) {
      int count = labelCount(labels, file, images, expected);
      byte[] bytes = file.read(count, "%d labels".formatted(count));
      file.expectEnd();
      int[] classOf = new int[count];
      for (int i = 0; i < count; i++) {
        classOf[i] = bytes[i] & 0xff;
      }
      return classOf;
    }
  }

  private static int labelCount(Path labels, BinaryFile file, Path images, int expected)
      throws DataException {
    checkMagic(labels, file.readInt("the magic number"), LABELS_MAGIC, "labels");
    int count = file.readInt("the number of labels");
    if (count != expected) {
      throw new DataException(
          labels,
          "the number of labels at offset 4 is %d but %s holds %d images"
              .formatted(count, images.getFileName(), expected));
    }
    return count;
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
