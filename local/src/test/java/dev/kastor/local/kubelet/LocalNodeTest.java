package dev.kastor.local.kubelet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Node object that the API server is given of this machine. */
final class LocalNodeTest {
  private static JsonNode share(int slots, int devices) {
    return new LocalNode("local", slots, devices, "cpu", List.of())
        .object()
        .at("/metadata/labels")
        .path("kastor.dev/slots-per-device");
  }

  @ParameterizedTest
  @CsvSource({"4, 2, 2", "4, 3, 1.333", "256, 1, 256"})
  void saysHowManySlotsShareADevice(int slots, int devices, double slotsPerDevice) {
    assertThat(share(slots, devices).asDouble()).isCloseTo(slotsPerDevice, within(1e-3));
  }

  @Test
  void saysNothingWhereEachSlotHasItsOwn() {
    assertThat(share(4, 4).isMissingNode()).isTrue();
  }
}
