package dev.kastor.local.kubelet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.local.SmallDisk;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class KubeletOnFullDiskIT {
  @TempDir Path folder;

  @Test
  void aStatusThatCouldNotBeWrittenIsWrittenOnceThereIsRoom() throws Exception {
    String said = SmallDisk.run(folder, KubeletOnFullDiskRun.class, "a pod that ends");
    assertThat(said).contains("phase on the full disk: Running, failure: false");
  }
}
