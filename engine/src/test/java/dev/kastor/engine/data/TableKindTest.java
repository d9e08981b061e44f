package dev.kastor.engine.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TableKindTest {
  @TempDir Path folder;

  private Path write(String name, byte[] bytes) throws Exception {
    return Files.write(folder.resolve(name), bytes);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "504152310000|is a Parquet file|pandas.read_parquet",
        "504b03040000|is an Excel workbook|Save the sheet as CSV",
        "1f8b08000000|is compressed|gzip -dc ",
        "fffe61003b00|is UTF-16|iconv -f UTF-16"
      })
  void whatIsNoCsvIsRefusedWithTheRemedy(String begin, String kind, String remedy)
      throws Exception {
    Path file = write("table", HexFormat.of().parseHex(begin));
    assertThatThrownBy(() -> CsvDataset.read(file, "label", 10))
        .isInstanceOf(DataException.class)
        .hasMessageStartingWith(file.toString())
        .hasMessageContainingAll(kind, remedy);
    assertThatThrownBy(() -> CsvDataset.glance(file, "label", 10)).hasMessageContaining(kind);
  }

  @Tag("slow")
  @Test
  void theCommandsMakeCsvOfIt() throws Exception {
    String text = "a,label\n" + "1,x\n2,y\n".repeat(10);
    Path packed = folder.resolve("it's packed");
    try (GZIPOutputStream out = new GZIPOutputStream(Files.newOutputStream(packed))) {
      out.write(text.getBytes(StandardCharsets.UTF_8));
    }
    Path wide = write("wide $(x)", ("\ufeff" + text).getBytes(StandardCharsets.UTF_16LE));
    Path parquet = write("p.parquet", "PAR1".getBytes(StandardCharsets.UTF_8));
    // Stands in for pandas, which writes what it was asked for.
    Files.writeString(
        folder.resolve("pandas.py"),
        """
        class read_parquet:
          def __init__(self, file):
            assert open(file).read() == "PAR1"
          def to_csv(self, file, index):
            open(file, "w").write("a,label\\n" + "1,x\\n2,y\\n" * 10)
        """);
    for (Path file : new Path[] {packed, wide, parquet}) {
      DataException refused =
          catchThrowableOfType(DataException.class, () -> CsvDataset.read(file, "label", 10));
      String command =
          String.valueOf(refused.getMessage()).replaceFirst("(?s).*(Convert|Unpack) it: ", "");
      ProcessBuilder shell = new ProcessBuilder("sh", "-c", command).redirectErrorStream(true);
      shell.environment().put("PYTHONPATH", folder.toString());
      Process process = shell.start();
      String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(process.waitFor()).as(command + ": " + said).isZero();
      Path csv = Path.of(file + ".csv");
      assertThat(CsvDataset.read(csv, "label", 10).images().training().examples()).isEqualTo(18);
    }
  }

  @Test
  void csvIsReadHoweverSpreadsheetsWriteIt() throws Exception {
    for (String text :
        new String[] {
          "\ufeffa;b;label\r\n" + "1;2;x\r\n3;4;y\r\n".repeat(5),
          "a\tb\tlabel\n" + "1\t2\tx\n3\t4\ty\n".repeat(5),
          "\ufeff\"a\",\"b;c\",label\n" + "1,2,x\n3,4,y\n".repeat(5)
        }) {
      Path file = write("t.csv", text.getBytes(StandardCharsets.UTF_8));
      assertThat(CsvDataset.read(file, "label", 10).images().training().examples()).isEqualTo(9);
      assertThat(CsvDataset.glance(file, "label", 10).mostExamples()).hasValue(9);
    }
  }
}
