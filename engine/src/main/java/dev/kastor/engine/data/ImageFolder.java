package dev.kastor.engine.data;

import dev.kastor.engine.data.ImageFiles.Labelled;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Folder of PNG and JPEG files by class, as {@link ImageFiles} describes it.
 *
 * @param training images to train with
 * @param heldOut images that only evaluation sees
 * @param inputs how a file becomes features
 * @param labels names of the classes
 */
public record ImageFolder(
    ByteImages training, ByteImages heldOut, Inputs.Pixels inputs, List<String> labels) {
  private static final Logger LOG = LoggerFactory.getLogger(ImageFolder.class);
  private static final Duration TELL = Duration.ofSeconds(2);

  /** Files of each class that a glance looks for. */
  private static final int GLANCED = 2_000;

  /** Images whose sizes a glance compares. */
  private static final int COMPARED = 20;

  private static final int LARGEST_ARRAY = Integer.MAX_VALUE - 16;

  /** Colours of images. */
  public enum Colours {
    /** Those of the first image. */
    AUTO,
    /** One value per pixel. */
    GREY,
    /** Red, green and blue. */
    RGB
  }

  /**
   * What images become.
   *
   * @param holdOutEvery images of each class that are held out where the folder does not say
   * @param side height and width; 0 for those of the first image, which all must have
   * @param colours colours
   */
  public record Rules(int holdOutEvery, int side, Colours colours) {}

  /** Looks at the names of files, at the first image and the sizes of some others. */
  public static Glance glance(Path folder, Rules rules) throws DataException {
    ImageFiles files = ImageFiles.list(folder, rules.holdOutEvery, GLANCED);
    ImageShape shape = shape(files, rules);
    Set<Integer> seen = new HashSet<>();
    for (Labelled image : files.training()) {
      if (rules.side == 0 && seen.size() < COMPARED && seen.add(image.label())) {
        ImageFile.Size size = ImageFile.Size.of(image.file());
        checkSize(image.file(), size.height(), size.width(), shape, files);
      }
    }
    return new Glance(
        shape, files.complete() ? OptionalLong.of(files.training().size()) : OptionalLong.empty());
  }

  /**
   * Reads all images.
   *
   * @throws DataException if one is damaged or has another size, or if they do not fit into memory;
   *     the message names the file, or says how much they need
   */
  public static ImageFolder read(Path folder, Rules rules) throws DataException {
    ImageFiles files = ImageFiles.list(folder, rules.holdOutEvery, Integer.MAX_VALUE);
    ImageShape shape = shape(files, rules);
    Runtime runtime = Runtime.getRuntime();
    long free = runtime.maxMemory() - (runtime.totalMemory() - runtime.freeMemory());
    // The rest is for what else a replica does.
    checkMemory(folder, files, shape, free / 2);
    Progress progress = new Progress(folder, files.training().size() + files.heldOut().size());
    byte[] training = pixels(files, files.training(), shape, rules, progress);
    byte[] heldOut = pixels(files, files.heldOut(), shape, rules, progress);
    ByteImages.Standard standard = ByteImages.Standard.of(training);
    float[] meaning = standard.meaning();
    double deviation = standard.deviation();
    return new ImageFolder(
        new ByteImages(shape, training, labels(files.training()), meaning),
        new ByteImages(shape, heldOut, labels(files.heldOut()), meaning),
        new Inputs.Pixels(
            shape.height(),
            shape.width(),
            shape.channels(),
            Inputs.Pixels.BYTE,
            1,
            (float) standard.mean(),
            deviation == 0 ? 0 : (float) (1 / deviation)),
        files.names());
  }

  private static ImageShape shape(ImageFiles files, Rules rules) throws DataException {
    ImageFile first = ImageFile.read(files.training().getFirst().file(), rules.side);
    int channels =
        switch (rules.colours) {
          case AUTO -> first.channels();
          case GREY -> 1;
          case RGB -> 3;
        };
    return rules.side == 0
        ? new ImageShape(first.height(), first.width(), channels, files.classes())
        : new ImageShape(rules.side, rules.side, channels, files.classes());
  }

  static void checkMemory(Path folder, ImageFiles files, ImageShape shape, long most)
      throws DataException {
    long images = (long) files.training().size() + files.heldOut().size();
    long needed = images * shape.features();
    long longest =
        (long) Math.max(files.training().size(), files.heldOut().size()) * shape.features();
    if (needed <= most && longest <= LARGEST_ARRAY) {
      return;
    }
    long fits = Math.min(most, LARGEST_ARRAY) / images / shape.channels();
    throw new DataException(
        folder,
        "%d images of %s need %d MiB of memory, and %d MiB can be had for them. Make them smaller: at most side %d fits"
            .formatted(
                images,
                shape,
                Math.ceilDiv(needed, 1 << 20),
                Math.min(most, LARGEST_ARRAY) >> 20,
                (long) Math.sqrt((double) fits)));
  }

  private static byte[] pixels(
      ImageFiles files, List<Labelled> images, ImageShape shape, Rules rules, Progress progress)
      throws DataException {
    byte[] pixels = new byte[images.size() * shape.features()];
    int at = 0;
    for (Labelled each : images) {
      ImageFile image = ImageFile.read(each.file(), rules.side);
      if (rules.side > 0) {
        image = image.square(rules.side);
      } else {
        checkSize(each.file(), image.height(), image.width(), shape, files);
      }
      System.arraycopy(image.in(shape.channels()).values(), 0, pixels, at, shape.features());
      at += shape.features();
      progress.read();
    }
    return pixels;
  }

  private static void checkSize(
      Path file, int height, int width, ImageShape shape, ImageFiles files) throws DataException {
    if (height != shape.height() || width != shape.width()) {
      throw new DataException(
          file,
          "is %dx%d pixels, but the first image, %s, is %dx%d. Set side, such as side: \"%d\", to bring all to one size"
              .formatted(
                  width,
                  height,
                  files.training().getFirst().file(),
                  shape.width(),
                  shape.height(),
                  Math.min(shape.height(), shape.width())));
    }
  }

  private static int[] labels(List<Labelled> images) {
    return images.stream().mapToInt(Labelled::label).toArray();
  }

  /** Progress that is told now and then. One thread owns it. */
  private static final class Progress {
    private final Path folder;
    private final int all;
    private int read;
    private long told = System.nanoTime();

    Progress(Path folder, int all) {
      this.folder = folder;
      this.all = all;
    }

    void read() {
      read++;
      long now = System.nanoTime();
      if (now - told > TELL.toNanos()) {
        told = now;
        LOG.info("{}: {} of {} images are read", folder, read, all);
      }
    }
  }
}
