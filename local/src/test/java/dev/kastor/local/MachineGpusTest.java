package dev.kastor.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class MachineGpusTest {
  @TempDir Path devices;

  @BeforeEach
  void make() throws IOException {
    for (String name : new String[] {"nvidia10", "nvidia0", "nvidia2", "nvidiactl", "nvidia-uvm"}) {
      Files.createFile(devices.resolve(name));
    }
  }

  @Test
  void areThoseWithADeviceFile() {
    assertThat(MachineGpus.found(null, devices)).containsExactly("0", "2", "10");
    assertThat(MachineGpus.found(null, devices.resolve("none"))).isEmpty();
    assertThat(MachineGpus.found("0,1", devices.resolve("none"))).isEmpty();
  }

  @Test
  void areNoMoreThanThisProcessMayUse() {
    assertThat(MachineGpus.found("2, 0", devices)).containsExactly("2", "0");
    assertThat(MachineGpus.found("GPU-8932f937,MIG-1a", devices))
        .containsExactly("GPU-8932f937", "MIG-1a");
    assertThat(MachineGpus.found("", devices)).isEmpty();
    assertThat(MachineGpus.found("0,-1,2", devices)).containsExactly("0");
  }
}
