package dev.kastor.cli.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.cli.Kastor;
import java.io.IOException;
import java.io.StringWriter;
import java.io.Writer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Commands whose output cannot be written. */
final class StandardOutputTest {
  @Test
  void aFullDiskFails() {
    StringWriter err = new StringWriter();

    int code = Kastor.run(failing("No space left on device"), err, "completion");

    assertThat(code).isEqualTo(ExitCode.FAILED);
    assertThat(err.toString())
        .isEqualTo("kastor: standard output cannot be written: No space left on device\n");
  }

  @Tag("slow")
  @Test
  void aReaderThatHasSeenEnoughEndsItQuietly() {
    StringWriter err = new StringWriter();

    int code = Kastor.run(failing("Broken pipe"), err, "--help");

    assertThat(code).isEqualTo(ExitCode.FAILED);
    assertThat(err.toString()).isEmpty();
  }

  private static Writer failing(String why) {
    return new Writer() {
      @Override
      public void write(char[] text, int offset, int length) throws IOException {
        throw new IOException(why);
      }

      @Override
      public void flush() {}

      @Override
      public void close() {}
    };
  }
}
