package dev.kastor.operator.nodes;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NodeTraitsTest {
  @Test
  void aBareNodeIsStableAndNothingElseIsKnown() {
    assertThat(NodeTraits.of(new ObjectMeta())).isEqualTo(new NodeTraits("", false, 0));
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
    assertThat(traits).isEqualTo(new NodeTraits("r1", false, 2.48));
    assertThat(NodeTraits.of(meta(Map.of("topology.kubernetes.io/rack", "r2"), Map.of())).rack())
        .isEqualTo("r2");
  }

  @ParameterizedTest
  @CsvSource({"2.48, false", "0, false", "0.00, false", "cheap, true", "-1, true", "NaN, true"})
  void aPriceThatIsNoneIsNoticedAndIgnored(String text, boolean bad) {
    ObjectMeta node = meta(Map.of(), Map.of("kastor.dev/price-per-hour", text));
    assertThat(NodeTraits.hasBadPrice(node)).isEqualTo(bad);
    assertThat(NodeTraits.of(node).pricePerHour()).isEqualTo(text.equals("2.48") ? 2.48 : 0);
  }

  private static ObjectMeta meta(Map<String, String> labels, Map<String, String> annotations) {
    return new ObjectMetaBuilder().withLabels(labels).withAnnotations(annotations).build();
  }
}
