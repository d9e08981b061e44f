package dev.kastor.cli.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CheckpointFolderTest {
  private static final String UID = "01234567-89ab-cdef-0123-456789abcdef";

  @TempDir Path root;

  @Test
  void findsWhatJobsSavedAndNothingElse() throws IOException {
    save("team/a-b-" + UID + "/step-100.ckpt", 10);
    save("team/a-b-" + UID + "/step-20.ckpt", 7);
    save("team/a-b-" + UID + "/step-120.ckpt.tmp", 1);
    save("default/torch-" + UID + "/step-3.kpt", 5);
    save("default/notes/step-1.ckpt", 1);
    List<CheckpointFolder> folders = CheckpointFolder.all(root);
    assertThat(folders).extracting(CheckpointFolder::job).containsExactly("torch", "a-b");
    CheckpointFolder both = folders.getLast();
    assertThat(both.namespace()).isEqualTo("team");
    assertThat(both.uid()).isEqualTo(UID);
    assertThat(both.saved()).extracting(CheckpointFolder.Saved::step).containsExactly(100L, 20L);
    assertThat(both.bytes()).isEqualTo(17);
    assertThat(both.saved(Optional.empty()).orElseThrow().step()).isEqualTo(100);
    assertThat(both.saved(Optional.of(20L)).orElseThrow().bytes()).isEqualTo(7);
    assertThat(both.saved(Optional.of(21L))).isEmpty();
    both.remove();
    assertThat(CheckpointFolder.all(root)).hasSize(1);
    assertThat(CheckpointFolder.all(root.resolve("nowhere"))).isEmpty();
  }

  @Test
  void sizesAreReadable() {
    assertThat(Checkpoints.size(17)).isEqualTo("17 B");
    assertThat(Checkpoints.size(1536)).isEqualTo("1.500 KiB");
    assertThat(Checkpoints.size(300L << 20)).isEqualTo("300 MiB");
  }

  private void save(String name, int bytes) throws IOException {
    Path file = root.resolve(name);
    Files.createDirectories(file.getParent());
    Files.write(file, new byte[bytes]);
  }
}
