package dev.kastor.cli.predict;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.Output;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

final class PredictionsTest {
  private static final Path TINY =
      Path.of(System.getProperty("kastor.root", ".."))
          .resolve("engine/src/test/resources/export/tiny.onnx");

  @TempDir Path folder;

  private void isRefused(Path model, Path examples, String... words) {
    assertThatThrownBy(() ->
            new Predictions(model, 1)
                .print(examples, Output.TABLE, new PrintWriter(new StringWriter())))
        .isInstanceOf(CliException.class)
        .hasMessageContainingAll(words);
  }

  @Test
  @Timeout(60)
  void aFileThatIsNoModelIsRefusedByItsName() throws Exception {
    Path rows = Files.writeString(folder.resolve("rows.csv"), "a,b\n1,2\n");
    byte[] whole = Files.readAllBytes(TINY);
    Path bad = folder.resolve("bad.onnx");
    for (byte[] bytes :
        new byte[][] {
          {},
          new byte[1000],
          "#!/bin/sh\n".getBytes(StandardCharsets.UTF_8),
          Arrays.copyOf(whole, whole.length / 2)
        }) {
      Files.write(bad, bytes);
      isRefused(bad, rows, "bad.onnx");
    }
    isRefused(folder, rows, folder.toString(), "no regular file");
    isRefused(folder.resolve("none.onnx"), rows, "none.onnx", "no regular file");
    isRefused(Path.of("/dev/zero"), rows, "/dev/zero", "no regular file");
  }

  @Test
  void examplesThatTheModelCannotReadAreRefusedByTheirFile() throws Exception {
    Path rows = Files.writeString(folder.resolve("rows.csv"), "x,y\n1,2\n");
    isRefused(TINY, rows, "rows.csv", "column 'a'");
  }
}
