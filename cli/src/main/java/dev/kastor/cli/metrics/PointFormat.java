package dev.kastor.cli.metrics;

import java.io.IOException;
import java.io.InputStream;
import java.util.function.Consumer;

/** Format of points in a file that grows: a head, then each point as a record of its own. */
interface PointFormat {
  /** End of a file's path, after the job's. */
  String ending();

  /** What a file begins with. */
  byte[] head();

  /** One point. */
  byte[] encode(Point point);

  /**
   * Reads a file.
   *
   * @param found takes each point
   * @return bytes of the head and of all whole records; what follows is one that was cut off
   * @throws DamagedFileException if it is not a file of this format
   */
  long read(InputStream file, Consumer<Point> found) throws IOException, DamagedFileException;
}
