package dev.kastor.traces;

import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;

/** Opens trace files as text, compressed with gzip or not. */
public final class TraceInput {
  private static final int GZIP_MAGIC = 0x1f8b;
  private static final int BUFFER = 1 << 16;
  private static final char BYTE_ORDER_MARK = '\uFEFF';

  private TraceInput() {}

  /** The text, without the byte order mark that editors of other systems put before UTF-8. */
  public static BufferedReader open(Path file) throws IOException {
    BufferedReader text =
        new BufferedReader(new InputStreamReader(stream(file), StandardCharsets.UTF_8), BUFFER);
    try {
      text.mark(1);
      if (text.read() != BYTE_ORDER_MARK) {
        text.reset();
      }
      return text;
    } catch (IOException e) {
      text.close();
      throw e;
    }
  }

  /** The content, decompressed where it begins like gzip, whatever the file is called. */
  public static InputStream stream(Path file) throws IOException {
    InputStream raw = new BufferedInputStream(Files.newInputStream(file), BUFFER);
    try {
      raw.mark(2);
      int magic = raw.read() << 8 | raw.read();
      raw.reset();
      return magic == GZIP_MAGIC ? new GZIPInputStream(raw, BUFFER) : raw;
    } catch (IOException e) {
      raw.close();
      throw e;
    }
  }
}
