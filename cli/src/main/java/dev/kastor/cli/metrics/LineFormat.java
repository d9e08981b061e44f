package dev.kastor.cli.metrics;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.function.Consumer;

/**
 * Format of a point as a line of text.
 *
 * @param codec how a line looks
 */
record LineFormat(LineCodec codec) implements PointFormat {
  @Override
  public String ending() {
    return codec.ending();
  }

  @Override
  public byte[] head() {
    return codec.head() == null ? new byte[0] : ended(codec.head());
  }

  @Override
  public byte[] encode(Point point) {
    return ended(codec.line(point));
  }

  private static byte[] ended(String line) {
    return (line + '\n').getBytes(UTF_8);
  }

  @Override
  public long read(InputStream file, Consumer<Point> found)
      throws IOException, DamagedFileException {
    long whole = 0;
    int number = 0;
    var line = new ByteArrayOutputStream();
    for (int next = file.read(); next >= 0; next = file.read()) {
      if (next != '\n') {
        line.write(next);
        continue;
      }
      String text = line.toString(UTF_8);
      if (++number == 1 && codec.head() != null) {
        if (!text.equals(codec.head())) {
          throw new DamagedFileException("its first line is not " + codec.head());
        }
      } else {
        Point point = codec.point(text);
        if (point == null) {
          throw new DamagedFileException("its line %d is no point".formatted(number));
        }
        found.accept(point);
      }
      whole += line.size() + 1;
      line.reset();
    }
    return whole;
  }
}
