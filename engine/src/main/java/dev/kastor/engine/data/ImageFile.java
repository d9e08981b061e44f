package dev.kastor.engine.data;

import java.awt.image.BufferedImage;
import java.awt.image.ColorModel;
import java.awt.image.IndexColorModel;
import java.awt.image.Raster;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.imageio.ImageIO;
import javax.imageio.ImageReadParam;
import javax.imageio.ImageReader;
import javax.imageio.event.IIOReadWarningListener;
import javax.imageio.stream.MemoryCacheImageInputStream;

/**
 * PNG or JPEG file as numbers. What it is, its first bytes say.
 *
 * <p>Values are those of the file: colour profiles and the orientation that a camera noted are not
 * applied, transparency is left out.
 *
 * @param height pixels
 * @param width pixels
 * @param channels 1 for grey, 3 for colours
 * @param values {@code [height, width, channels]} flat, each 0 to 255
 */
@SuppressWarnings("ArrayRecordComponent") // goes straight to where it is copied, never compared
record ImageFile(int height, int width, int channels, byte[] values) {
  private static final int MOST_BYTES = 1 << 26;
  private static final long MOST_PIXELS = 1L << 26;

  /** So many pixels are decoded of an image; of a larger one every n-th, if it is made smaller. */
  private static final long FULL_PIXELS = 1L << 22;

  private static final int BITS = 8;

  static {
    // Images are decoded where there is no screen; else the JDK would look for one.
    System.setProperty("java.awt.headless", "true");
  }

  /** Height and width of an image, which is not decoded. */
  record Size(int height, int width) {
    /** Reads the header of a file. */
    static Size of(Path file) throws DataException {
      return open(file, (reader, warnings) -> size(file, reader));
    }
  }

  private interface Use<T> {
    T of(ImageReader reader, List<String> warnings) throws IOException, DataException;
  }

  /**
   * Reads a file.
   *
   * @param side height and width of what is needed: the image may be decoded in a coarser form that
   *     is still larger; 0 for all of it
   */
  static ImageFile read(Path file, int side) throws DataException {
    return open(
        file,
        (reader, warnings) -> {
          Size size = size(file, reader);
          ImageReadParam param = reader.getDefaultReadParam();
          int step = step(size, side);
          if (pixels(size, step) > FULL_PIXELS) {
            throw new DataException(
                file,
                "is %dx%d pixels, and at most %d pixels are read. Set side to make images smaller"
                    .formatted(size.width, size.height, FULL_PIXELS));
          }
          param.setSourceSubsampling(step, step, 0, 0);
          BufferedImage image = reader.read(0, param);
          for (String warning : warnings) {
            // A decoder of JPEG goes on where data is missing, and draws grey there.
            if (warning.contains("remature end") || warning.contains("Huffman")) {
              throw new DataException(file, "is damaged (%s)".formatted(warning));
            }
          }
          return of(image);
        });
  }

  private static int step(Size size, int side) {
    int step = 1;
    if (side > 0) {
      int most = Math.max(1, Math.min(size.height, size.width) / side);
      while (step < most && pixels(size, step) > FULL_PIXELS) {
        step++;
      }
    }
    return step;
  }

  private static long pixels(Size size, int step) {
    return (long) Math.ceilDiv(size.height, step) * Math.ceilDiv(size.width, step);
  }

  private static Size size(Path file, ImageReader reader) throws IOException, DataException {
    Size size = new Size(reader.getHeight(0), reader.getWidth(0));
    if (pixels(size, 1) > MOST_PIXELS) {
      throw new DataException(
          file,
          "is %dx%d pixels, and images of at most %d pixels are read"
              .formatted(size.width, size.height, MOST_PIXELS));
    }
    return size;
  }

  private static <T> T open(Path file, Use<T> use) throws DataException {
    byte[] bytes;
    try (InputStream in = Files.newInputStream(file)) {
      bytes = in.readNBytes(MOST_BYTES + 1);
    } catch (IOException e) {
      throw new DataException(file, e);
    }
    if (bytes.length > MOST_BYTES) {
      throw new DataException(file, "is longer than %d MiB".formatted(MOST_BYTES >> 20));
    }
    ImageReader reader = ImageIO.getImageReadersByFormatName(format(file, bytes)).next();
    try (MemoryCacheImageInputStream in =
        new MemoryCacheImageInputStream(new ByteArrayInputStream(bytes))) {
      List<String> warnings = new ArrayList<>();
      IIOReadWarningListener listener = (source, warning) -> warnings.add(warning);
      reader.addIIOReadWarningListener(listener);
      reader.setInput(in, true, true);
      return use.of(reader, warnings);
    } catch (IOException e) {
      String why = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
      throw new DataException(
          file,
          why.startsWith("Unsupported Image Type")
              ? "has colours that are not read, such as CMYK. Save it in RGB"
              : "is damaged (%s)".formatted(why));
    } catch (RuntimeException e) {
      // What a decoder of the JDK throws for some damaged files.
      throw new DataException(file, "is damaged (%s)".formatted(e));
    } finally {
      reader.dispose();
    }
  }

  private static String format(Path file, byte[] bytes) throws DataException {
    if (bytes.length > 3 && bytes[0] == (byte) 0x89 && bytes[1] == 'P' && bytes[2] == 'N') {
      return "png";
    }
    if (bytes.length > 3 && bytes[0] == (byte) 0xff && bytes[1] == (byte) 0xd8) {
      return "jpeg";
    }
    throw new DataException(
        file, bytes.length == 0 ? "is empty" : "is neither PNG nor JPEG, whatever its name is");
  }

  private static ImageFile of(BufferedImage image) {
    Raster raster = image.getRaster();
    ColorModel colours = image.getColorModel();
    int height = image.getHeight();
    int width = image.getWidth();
    int bands = raster.getNumBands();
    if (colours instanceof IndexColorModel palette) {
      return ofPalette(raster, palette, height, width);
    }
    // Bands of grey, or of red, green and blue, and what follows them is transparency.
    int channels = bands < 3 ? 1 : 3;
    byte[] values = new byte[Math.multiplyExact(height * width, channels)];
    int[] row = new int[width * bands];
    for (int y = 0; y < height; y++) {
      raster.getPixels(0, y, width, 1, row);
      for (int x = 0; x < width; x++) {
        for (int c = 0; c < channels; c++) {
          values[(y * width + x) * channels + c] =
              (byte) eightBits(row[x * bands + c], colours.getComponentSize(c));
        }
      }
    }
    return new ImageFile(height, width, channels, values);
  }

  private static int eightBits(int value, int bits) {
    return bits == BITS
        ? value
        : bits > BITS ? value >> (bits - BITS) : value * 255 / ((1 << bits) - 1);
  }

  private static ImageFile ofPalette(
      Raster raster, IndexColorModel palette, int height, int width) {
    boolean grey = true;
    for (int i = 0; i < palette.getMapSize(); i++) {
      grey &= palette.getRed(i) == palette.getGreen(i) && palette.getRed(i) == palette.getBlue(i);
    }
    int channels = grey ? 1 : 3;
    byte[] values = new byte[Math.multiplyExact(height * width, channels)];
    for (int i = 0; i < height * width; i++) {
      int index = raster.getSample(i % width, i / width, 0);
      values[i * channels] = (byte) palette.getRed(index);
      if (!grey) {
        values[i * channels + 1] = (byte) palette.getGreen(index);
        values[i * channels + 2] = (byte) palette.getBlue(index);
      }
    }
    return new ImageFile(height, width, channels, values);
  }

  /** The same in grey (1) or in colours (3). */
  ImageFile in(int wanted) {
    if (wanted == channels) {
      return this;
    }
    byte[] other = new byte[height * width * wanted];
    for (int i = 0; i < height * width; i++) {
      if (wanted == 3) {
        Arrays.fill(other, 3 * i, 3 * i + 3, values[i]);
      } else {
        // Luma of ITU-R BT.601.
        other[i] =
            (byte)
                Math.round(
                    0.299f * (values[3 * i] & 0xff)
                        + 0.587f * (values[3 * i + 1] & 0xff)
                        + 0.114f * (values[3 * i + 2] & 0xff));
      }
    }
    return new ImageFile(height, width, wanted, other);
  }

  /**
   * The largest square in the middle with another number of pixels, each the mean of what it
   * covers.
   */
  ImageFile square(int side) {
    int whole = Math.min(height, width);
    if (whole == side && height == width) {
      return this;
    }
    int top = (height - whole) / 2;
    int left = (width - whole) / 2;
    double scale = (double) whole / side;
    byte[] other = new byte[side * side * channels];
    double[] sums = new double[channels];
    for (int y = 0; y < side; y++) {
      for (int x = 0; x < side; x++) {
        Arrays.fill(sums, 0);
        double weights = 0;
        for (int v = (int) (y * scale); v < Math.min(whole, Math.ceil((y + 1) * scale)); v++) {
          double high = Math.min(v + 1, (y + 1) * scale) - Math.max(v, y * scale);
          for (int u = (int) (x * scale); u < Math.min(whole, Math.ceil((x + 1) * scale)); u++) {
            double weight = high * (Math.min(u + 1, (x + 1) * scale) - Math.max(u, x * scale));
            weights += weight;
            for (int c = 0; c < channels; c++) {
              sums[c] += weight * (values[((top + v) * width + left + u) * channels + c] & 0xff);
            }
          }
        }
        for (int c = 0; c < channels; c++) {
          other[(y * side + x) * channels + c] = (byte) Math.round(sums[c] / weights);
        }
      }
    }
    return new ImageFile(side, side, channels, other);
  }
}
