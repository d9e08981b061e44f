package dev.kastor.engine.data;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Kind of file that holds tables but is no CSV, known by its first bytes. */
enum TableKind {
  PARQUET("a Parquet file", "PAR1") {
    @Override
    String remedy(Path file) {
      return "Convert it: python3 -c 'import sys, pandas; pandas.read_parquet(sys.argv[1]).to_csv(sys.argv[2], index=False)' %s %s"
          .formatted(quoted(file, ""), quoted(file, ".csv"));
    }
  },
  WORKBOOK("an Excel workbook or another archive", "PK\3\4") {
    @Override
    String remedy(Path file) {
      return "Save the sheet as CSV";
    }
  },
  COMPRESSED("compressed", "\u001f\u008b") {
    @Override
    String remedy(Path file) {
      return "Unpack it: gzip -dc %s > %s".formatted(quoted(file, ""), quoted(file, ".csv"));
    }
  },
  UTF_16("UTF-16", "\u00ff\u00fe") {
    @Override
    String remedy(Path file) {
      return "Convert it: iconv -f UTF-16 -t UTF-8 %s > %s"
          .formatted(quoted(file, ""), quoted(file, ".csv"));
    }
  };

  private final String words;

  /** The first bytes, one as each character. */
  private final String begin;

  TableKind(String words, String begin) {
    this.words = words;
    this.begin = begin;
  }

  /** What to do with such a file. */
  abstract String remedy(Path file);

  /**
   * Refuses a file of such a kind.
   *
   * @throws DataException if it is one, or cannot be read
   */
  static void refuse(Path file) throws DataException {
    DataFile.size(file);
    String first;
    try (InputStream in = Files.newInputStream(file)) {
      first = new String(in.readNBytes(4), StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      throw new DataException(file, e);
    }
    for (TableKind kind : values()) {
      if (first.startsWith(kind.begin)) {
        throw new DataException(
            file, "is %s, and CSV is needed. %s".formatted(kind.words, kind.remedy(file)));
      }
    }
  }

  /** A path with an ending as a shell takes it. */
  private static String quoted(Path file, String ending) {
    return "'" + (file + ending).replace("'", "'\\''") + "'";
  }
}
