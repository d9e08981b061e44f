package dev.kastor.engine.nn;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("never-retried")
class ProcessBitsIT {
  @Test
  void anotherProcessComputesTheSameBits() throws Exception {
    // Another compiler there: what it does to the loops must not show in the result either.
    Process child =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                ProcessBits.class.getName())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    String there = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(child.waitFor()).isZero();
    assertThat(there.strip()).isEqualTo(ProcessBits.digest());
  }
}
