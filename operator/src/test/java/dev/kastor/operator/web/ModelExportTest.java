package dev.kastor.operator.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.kastor.scheduler.model.JobId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ModelExportTest {
  private static final JobId JOB = new JobId("team-a", "digits");

  @TempDir Path folder;

  private ModelExport command(String script) throws IOException {
    Path command = folder.resolve("kastor");
    Files.writeString(command, "#!/bin/sh\n" + script + "\n");
    Files.setPosixFilePermissions(command, PosixFilePermissions.fromString("rwx------"));
    return new ModelExport(Optional.of(command.toString()));
  }

  @Test
  void givesWhatTheCommandWrote() throws Exception {
    byte[] model =
        command("printf '%s ' \"$1\" \"$2\" \"$3\" \"$4\" \"$5\" \"$6\" > \"$8\"").onnx(JOB);

    assertThat(new String(model, StandardCharsets.UTF_8))
        .isEqualTo("export digits -n team-a --format onnx ");
  }

  @Test
  void saysWhatTheCommandSaid() throws Exception {
    ModelExport export = command("echo 'kastor: no checkpoint of job digits' >&2; exit 1");

    var refused = catchThrowableOfType(ModelExport.Unavailable.class, () -> export.onnx(JOB));

    assertThat(refused).hasMessage("no checkpoint of job digits");
    assertThat(refused.later()).isFalse();
  }

  @Test
  void doesNotLoadWhatIsTooLarge() throws Exception {
    ModelExport export =
        command("head -c %d /dev/zero > \"$8\"".formatted(ModelExport.MOST_BYTES + 1));

    assertThatThrownBy(() -> export.onnx(JOB)).hasMessageContaining("has 16777217 bytes");
  }

  @Test
  void namesTheCommandWhereThereAreNoCheckpoints() {
    assertThatThrownBy(() -> new ModelExport(Optional.empty()).onnx(JOB))
        .hasMessageContaining("does not reach the checkpoints of job team-a/digits")
        .hasMessageContaining("kastor export digits -n team-a -o model.onnx");
  }

  /** Within its time the command has to start another process. */
  @Test
  @Tag("timing")
  void whatTakesTooLongEndsWithAllThatItStarted() throws Exception {
    Path child = folder.resolve("child");
    command("sleep 600 & echo $! > %s; wait".formatted(child));
    ModelExport export =
        new ModelExport(Optional.of(folder.resolve("kastor").toString()), Duration.ofSeconds(5));

    var refused = catchThrowableOfType(ModelExport.Unavailable.class, () -> export.onnx(JOB));

    assertThat(refused).hasMessageContaining("takes longer than 5 s");
    assertThat(refused.later()).isTrue();
    long pid = Long.parseLong(Files.readString(child).strip());
    assertThat(ProcessHandle.of(pid).filter(ProcessHandle::isAlive)).isEmpty();
  }

  @Test
  void whatIsNoTextIsSaidAllTheSame() throws Exception {
    ModelExport export = command("printf 'kastor: caf\\351' >&2; exit 1");

    assertThatThrownBy(() -> export.onnx(JOB)).hasMessage("caf\uFFFD");
  }

  @Test
  void exportsOneModelAtATime() throws Exception {
    Path begun = folder.resolve("begun");
    Path go = folder.resolve("go");
    ModelExport export =
        command("mkfifo %1$s; : > %2$s; read line < %1$s; : > \"$8\"".formatted(go, begun));
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<byte[]> first = threads.submit(() -> export.onnx(JOB));
      while (!Files.exists(begun)) {
        Thread.sleep(5);
      }
      var refused = catchThrowableOfType(ModelExport.Unavailable.class, () -> export.onnx(JOB));
      assertThat(refused).hasMessageContaining("another model is exported now");
      assertThat(refused.later()).isTrue();
      Files.writeString(go, "now\n");
      assertThat(first.get()).isEmpty();
    }
  }
}
