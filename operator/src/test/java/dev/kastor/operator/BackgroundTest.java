package dev.kastor.operator;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

final class BackgroundTest {
  /** After the name of the program in parentheses, as {@code proc_pid_stat} has it. */
  private static final int NICE_FIELD = 16;

  @Test
  @EnabledOnOs(OS.LINUX)
  void standsBackAlone() throws Exception {
    int before = niceness();
    var seen = new CompletableFuture<Integer>();
    Thread thread = new Thread(Background.of(() -> seen.complete(niceness())));
    thread.start();
    thread.join();
    assertThat(seen.get()).isEqualTo(5);
    assertThat(niceness()).isEqualTo(before);
  }

  private static int niceness() {
    try {
      String stat = Files.readString(Path.of("/proc/thread-self/stat"));
      return Integer.parseInt(stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1)[NICE_FIELD]);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
