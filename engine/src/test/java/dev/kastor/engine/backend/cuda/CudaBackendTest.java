package dev.kastor.engine.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class CudaBackendTest {
  @Test
  void theCapIsInMebibytes() {
    assertThat(CudaBackend.capBytes("1")).isEqualTo(1 << 20);
    assertThat(CudaBackend.capBytes("81920")).isEqualTo(80L << 30);
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-1", "8Gi", "1.5", "8796093022208"})
  void aCapThatIsNoneIsRefused(String mebibytes) {
    assertThatIllegalStateException()
        .isThrownBy(() -> CudaBackend.capBytes(mebibytes))
        .withMessage(
            "KASTOR_GPU_MEMORY_MIB must be a positive number of MiB but is '%s'.", mebibytes);
  }
}
