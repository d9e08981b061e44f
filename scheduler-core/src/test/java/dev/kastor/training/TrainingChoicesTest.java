package dev.kastor.training;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.plugin.Selection;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class TrainingChoicesTest {
  /** A feature that cannot be used beside another one. */
  private record Named(String name, Set<String> excludes) implements Feature {
    @Override
    public String description() {
      return "Does nothing.";
    }
  }

  private static void assertRefused(Map<String, ?> training, String message) {
    assertThatThrownBy(() -> TrainingChoices.parse(training))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  private static Map<String, Object> gradients(Object... stages) {
    return Map.of("gradients", Arrays.asList(stages));
  }

  @Test
  void nothingIsNoChoice() {
    assertThat(TrainingChoices.parse(null)).isEqualTo(TrainingChoices.NONE);
    assertThat(TrainingChoices.parse(Map.of())).isEqualTo(TrainingChoices.NONE);
    assertThat(TrainingChoices.parse(Map.of("passes", Map.of(), "gradients", List.of())))
        .isEqualTo(TrainingChoices.NONE);
  }

  @Test
  void aPassIsOnOrOffInTheWordsOfYamlAndJson() {
    assertThat(
            TrainingChoices.parse(
                    Map.of("passes", Map.of("a", "on", "b", "off", "c", true, "d", false)))
                .passes())
        .isEqualTo(Map.of("a", true, "b", false, "c", true, "d", false));
    assertRefused(
        Map.of("passes", Map.of("a", "yes")), "training.passes.a must be on or off but is 'yes'");
    assertRefused(
        Map.of("passes", Collections.singletonMap("a", null)),
        "training.passes.a must be on or off but is 'null'");
    assertRefused(Map.of("passes", List.of("a")), "training.passes must be a map");
  }

  @Test
  void driftIsRepairedOrEndsTheJob() {
    assertThat(TrainingChoices.NONE.drift()).isEqualTo(Drift.REPAIR);
    assertThat(TrainingChoices.parse(Map.of("drift", "repair"))).isEqualTo(TrainingChoices.NONE);
    assertThat(TrainingChoices.parse(Map.of("drift", "fail")).drift()).isEqualTo(Drift.FAIL);
    assertRefused(Map.of("drift", "FAIL"), "training.drift must be repair or fail but is 'FAIL'");
  }

  @Test
  void stagesKeepTheirOrderAndOptions() {
    List<Selection> stages =
        TrainingChoices.parse(gradients(Map.of("clip", Map.of("norm", 1.0)), "sign")).gradients();
    assertThat(stages.stream().map(Selection::name)).containsExactly("clip", "sign");
    assertThat(stages.getFirst().values()).isEqualTo(Map.of("norm", "1.0"));
    assertThat(TrainingChoices.parse(gradients(Collections.singletonMap("clip", null))).gradients())
        .hasSize(1);
  }

  @Test
  void otherFormsOfStagesAreRefused() {
    assertRefused(
        Map.of("gradients", Map.of("clip", Map.of())), "training.gradients must be a list");
    assertRefused(gradients(Map.of("a", Map.of(), "b", Map.of())), "training.gradients[0] must be");
    assertRefused(gradients(Map.of("clip", 1)), "training.gradients[0] must be one stage");
    assertRefused(
        Map.of("gradients", Collections.singletonList(null)),
        "training.gradients[0] must be one stage");
    assertRefused(
        gradients(Map.of("clip", Map.of("norm", List.of(1)))),
        "training.gradients[0].clip.norm must be a number or a text");
    assertRefused(gradients("clip", "clip"), "training.gradients has clip and clip");
  }

  @Test
  void stagesOfUpdatesHaveTheSameForm() {
    Map<String, Object> given = Map.of("updates", List.of("a", Map.of("b", Map.of("norm", 2))));
    List<Selection> stages = TrainingChoices.parse(given).updates();
    assertThat(stages.stream().map(Selection::name)).containsExactly("a", "b");
    assertThat(stages.getLast().values()).isEqualTo(Map.of("norm", "2"));
    assertRefused(Map.of("updates", "a"), "training.updates must be a list of stages");
    assertRefused(Map.of("updates", List.of("a", "a")), "training.updates has a and a");
  }

  @Test
  void anUnknownFieldIsAnsweredWithThoseThatThereAre() {
    assertRefused(
        Map.of("gradient", List.of()),
        "training has no field 'gradient'. Use one of: passes, gradients, codec, updates, select,"
            + " tune, sync, collective, devices, drift. Did you mean gradients?");
  }

  @Test
  void aCodecIsOneNameWithItsOptions() {
    assertThat(TrainingChoices.parse(Map.of("codec", "bf16")).codec())
        .contains(new Selection("bf16", new LinkedHashMap<>()));
    assertThat(
            TrainingChoices.parse(Map.of("codec", Map.of("topk", Map.of("share", 0.02))))
                .codec()
                .orElseThrow()
                .values())
        .isEqualTo(Map.of("share", "0.02"));
    assertThat(TrainingChoices.parse(Collections.singletonMap("codec", null)))
        .isEqualTo(TrainingChoices.NONE);
    assertRefused(
        Map.of("codec", List.of("bf16")),
        "training.codec must be one codec with its options, such as topk: {share: 0.01}");
    assertRefused(
        Map.of("codec", Map.of("topk", Map.of("share", List.of(1)))),
        "training.codec.topk.share must be a number or a text");
  }

  @Test
  void aSelectorIsOneNameWithItsOptions() {
    assertThat(
            TrainingChoices.parse(Map.of("select", Map.of("backprop", Map.of("beta", 2))))
                .select()
                .orElseThrow()
                .values())
        .isEqualTo(Map.of("beta", "2"));
    assertRefused(
        Map.of("select", List.of("random", "backprop")),
        "training.select must be one selector with its options, such as backprop: {beta: 3}");
  }

  @Test
  void aTunerIsOneNameWithItsOptions() {
    assertThat(TrainingChoices.parse(Map.of("tune", "plateau")).tune())
        .contains(new Selection("plateau", new LinkedHashMap<>()));
    assertThat(
            TrainingChoices.parse(Map.of("tune", Map.of("phases", Map.of("decay", "linear"))))
                .tune()
                .orElseThrow()
                .values())
        .isEqualTo(Map.of("decay", "linear"));
    assertRefused(
        Map.of("tune", List.of("phases")),
        "training.tune must be one tuner with its options, such as plateau: {patience: 1000}");
  }

  @Test
  void aSyncPolicyIsOneNameWithItsOptions() {
    assertThat(
            TrainingChoices.parse(Map.of("sync", Map.of("local", Map.of("steps", 4))))
                .sync()
                .orElseThrow()
                .values())
        .isEqualTo(Map.of("steps", "4"));
    assertRefused(
        Map.of("sync", Map.of("local", 4)),
        "training.sync must be one sync policy with its options, such as local: {steps: 8}");
  }

  @Test
  void aCollectiveIsOneNameWithItsOptions() {
    TrainingChoices choices = TrainingChoices.parse(Map.of("sync", "local", "collective", "ring"));
    assertThat(choices.collective()).contains(new Selection("ring", new LinkedHashMap<>()));
    Selection other = Selection.parse("hierarchical");
    assertThat(TrainingChoices.parse(Map.of("sync", "local")).with(other))
        .isEqualTo(TrainingChoices.parse(Map.of("sync", "local", "collective", "hierarchical")));
    assertRefused(
        Map.of("collective", List.of("ring")),
        "training.collective must be one collective with its options, such as hierarchical");
  }

  @Test
  void aLayoutOfDevicesIsOneNameWithItsOptions() {
    assertThat(
            TrainingChoices.parse(Map.of("devices", Map.of("split", Map.of("memoryMiB", 64))))
                .devices())
        .contains(Selection.parse("split:memoryMiB=64"));
    assertRefused(
        Map.of("devices", 2),
        "training.devices must be one layout of devices with its options, such as split:");
  }

  @Test
  void whatIsTooLongForAPodIsRefused() {
    assertRefused(Map.of("passes", Map.of("a".repeat(5000), "on")), "characters but may have 4096");
  }

  @Test
  void featuresThatMakeNoSenseTogetherAreBothNamed() {
    Feature one = new Named("one", Set.of());
    Feature two = new Named("two", Set.of("one"));
    Feature three = new Named("three", Set.of());
    assertThatCode(() -> Feature.checkTogether(List.of(one, three))).doesNotThrowAnyException();
    for (List<Feature> pair : List.of(List.of(one, three, two), List.of(two, one))) {
      assertThatThrownBy(() -> Feature.checkTogether(pair))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("one")
          .hasMessageContaining("two")
          .hasMessageContaining("make no sense together");
    }
  }
}
