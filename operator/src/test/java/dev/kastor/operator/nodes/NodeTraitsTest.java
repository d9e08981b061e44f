package dev.kastor.operator.nodes;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NodeTraitsTest {
  @Test
  void aBareNodeIsStableAndNothingElseIsKnown() {
    assertThat(NodeTraits.of(new ObjectMeta())).isEqualTo(new NodeTraits("", false, 0, 1));
  }

  @ParameterizedTest
  @CsvSource({
    "karpenter.sh/capacity-type, spot, true",
    "karpenter.sh/capacity-type, on-demand, false",
    "cloud.google.com/gke-spot, true, true",
    "cloud.google.com/gke-preemptible, true, true",
    "kubernetes.azure.com/scalesetpriority, spot, true",
    "eks.amazonaws.com/capacityType, SPOT, true",
    "eks.amazonaws.com/capacityType, ON_DEMAND, false",
    "kastor.dev/preemptible, true, true"
  })
  void labelsOfProvidersTellWhatMayBeTakenAway(String label, String value, boolean preemptible) {
    assertThat(NodeTraits.of(meta(Map.of(label, value), Map.of())).preemptible())
        .isEqualTo(preemptible);
  }

  @Test
  void ourOwnLabelsComeFirst() {
    NodeTraits traits =
        NodeTraits.of(
            meta(
                Map.of(
                    "kastor.dev/rack", "r1",
                    "topology.kubernetes.io/rack", "r2",
                    "kastor.dev/preemptible", "false",
                    "cloud.google.com/gke-spot", "true"),
                Map.of("kastor.dev/price-per-hour", "2.48")));
    assertThat(traits).isEqualTo(new NodeTraits("r1", false, 2.48, 1));
    assertThat(NodeTraits.of(meta(Map.of("topology.kubernetes.io/rack", "r2"), Map.of())).rack())
        .isEqualTo("r2");
  }

  @ParameterizedTest
  @CsvSource({"2.48, false", "0, false", "0.00, false", "cheap, true", "-1, true", "NaN, true"})
  void aPriceThatIsNoneIsNoticedAndIgnored(String text, boolean bad) {
    ObjectMeta node = meta(Map.of(), Map.of("kastor.dev/price-per-hour", text));
    assertThat(NodeTraits.unreadable(node).contains("annotation kastor.dev/price-per-hour"))
        .isEqualTo(bad);
    assertThat(NodeTraits.of(node).pricePerHour()).isEqualTo(text.equals("2.48") ? 2.48 : 0);
  }

  @ParameterizedTest
  @CsvSource({
    "kastor.dev/slots-per-device=2, 2",
    "kastor.dev/slots-per-device=1.5, 1.5",
    "kastor.dev/slots-per-device=many, 1",
    "kastor.dev/slots-per-device=0.5, 1",
    "kastor.dev/slots-per-device=-4, 1",
    "nvidia.com/gpu.sharing-strategy=time-slicing nvidia.com/gpu.replicas=4, 4",
    "nvidia.com/gpu.sharing-strategy=mps nvidia.com/gpu.replicas=4, 1",
    "nvidia.com/gpu.sharing-strategy=none nvidia.com/gpu.replicas=1, 1",
    "nvidia.com/gpu.sharing-strategy=time-slicing, 1",
    "nvidia.com/gpu.sharing-strategy=time-slicing nvidia.com/gpu.replicas=4 kastor.dev/slots-per-device=1, 1"
  })
  void labelsTellHowManySlotsShareADevice(String labels, double slots) {
    Map<String, String> all =
        Arrays.stream(labels.split(" "))
            .map(label -> label.split("="))
            .collect(Collectors.toMap(label -> label[0], label -> label[1]));
    assertThat(NodeTraits.of(meta(all, Map.of())).slotsPerDevice()).isEqualTo(slots);
  }

  @ParameterizedTest
  @CsvSource({"2, false", "1.5, false", "many, true", "0.5, true", "-4, true", "NaN, true"})
  void aShareThatIsNoneIsNoticed(String text, boolean bad) {
    ObjectMeta node = meta(Map.of("kastor.dev/slots-per-device", text), Map.of());
    assertThat(NodeTraits.unreadable(node).contains("label kastor.dev/slots-per-device"))
        .isEqualTo(bad);
  }

  private static ObjectMeta meta(Map<String, String> labels, Map<String, String> annotations) {
    return new ObjectMetaBuilder().withLabels(labels).withAnnotations(annotations).build();
  }
}
