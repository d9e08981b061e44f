package dev.kastor.cli.metrics;

import org.jspecify.annotations.Nullable;

/** Codec of a point as a line of text without its end. */
interface LineCodec {
  /** End of a file's path, after the job's. */
  String ending();

  /** First line; null where there is none but points. */
  @Nullable String head();

  String line(Point point);

  /** The point of a line; null where the line is none. */
  @Nullable Point point(String line);
}
