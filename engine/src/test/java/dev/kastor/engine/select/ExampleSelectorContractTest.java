package dev.kastor.engine.select;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.engine.train.Draws;
import dev.kastor.engine.train.ExampleSelector;
import dev.kastor.engine.train.ExampleSelector.Choice;
import dev.kastor.engine.train.ExampleSelector.Losses;
import dev.kastor.engine.train.ExampleSelectorPlugin;
import dev.kastor.engine.train.Section;
import dev.kastor.engine.train.TrainingState;
import dev.kastor.plugin.Options;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Contract of selectors of examples, those of Kastor. */
class ExampleSelectorContractTest {
  private static final int EXAMPLES = 500;
  private static final int WANTED = 48;

  /** Losses of many examples that are all alike. */
  private static final Losses USUAL = position -> (float) Draws.uniform(3, 11, position);

  static List<ExampleSelectorPlugin> selectors() {
    return ExampleSelectors.BUILT_IN.all();
  }

  private static ExampleSelector create(ExampleSelectorPlugin plugin) {
    return plugin.create(Options.usual(plugin), EXAMPLES, 5);
  }

  /** Losses as the host answers them: for ascending positions from the cursor on. */
  private static Losses ascending(ExampleSelectorPlugin plugin, long cursor, Losses losses) {
    long[] last = {cursor};
    return position -> {
      assertThat(plugin.usesLosses()).isTrue();
      assertThat(position).isGreaterThanOrEqualTo(last[0]);
      last[0] = position;
      return losses.at(position);
    };
  }

  private static Choice choose(
      ExampleSelectorPlugin plugin, ExampleSelector selector, long cursor, Losses losses)
      throws IOException {
    return selector.choose(cursor, WANTED, ascending(plugin, cursor, losses)).check(cursor, WANTED);
  }

  private static void assertSame(Choice one, Choice other) {
    assertThat(one.positions()).isEqualTo(other.positions());
    assertThat(one.cursor()).isEqualTo(other.cursor());
  }

  @ParameterizedTest
  @MethodSource("selectors")
  void allReplicasChooseTheSameAsManyAsAStepNeeds(ExampleSelectorPlugin plugin) throws IOException {
    ExampleSelector one = create(plugin);
    ExampleSelector other = create(plugin);
    long cursor = 0;
    for (int step = 0; step < 60; step++) {
      Choice choice = choose(plugin, one, cursor, USUAL);
      assertSame(choose(plugin, other, cursor, USUAL), choice);
      one.commit();
      other.commit();
      cursor = choice.cursor();
    }
    ExampleSelector another = plugin.create(Options.usual(plugin), EXAMPLES, 6);
    assertThat(choose(plugin, another, 10L * EXAMPLES, USUAL).positions())
        .as("another seed")
        .isNotEqualTo(choose(plugin, create(plugin), 10L * EXAMPLES, USUAL).positions());
  }

  @Tag("slow")
  @ParameterizedTest
  @MethodSource("selectors")
  void whatIsNotCommittedDidNotHappen(ExampleSelectorPlugin plugin) throws IOException {
    ExampleSelector disturbed = create(plugin);
    ExampleSelector undisturbed = create(plugin);
    long cursor = 10L * EXAMPLES;
    for (int step = 0; step < 20; step++) {
      TrainingState before = new TrainingState(disturbed.state()).copy();
      disturbed.choose(cursor, WANTED / 3, position -> -position);
      disturbed.choose(cursor, 2 * WANTED, USUAL);
      for (Section section : before.sections()) {
        assertThat(
                new TrainingState(disturbed.state())
                    .section(section.name())
                    .values()
                    .mismatch(section.values()))
            .as(section.name())
            .isEqualTo(-1);
      }
      Choice choice = choose(plugin, disturbed, cursor, USUAL);
      assertSame(choice, choose(plugin, undisturbed, cursor, USUAL));
      disturbed.commit();
      undisturbed.commit();
      cursor = choice.cursor();
    }
  }

  /** A replica that joins, or goes on from a checkpoint, has the arrays and nothing else. */
  @ParameterizedTest
  @MethodSource("selectors")
  void theStateIsAllThatItKnows(ExampleSelectorPlugin plugin) throws IOException {
    ExampleSelector member = create(plugin);
    List<Section.Form> forms = new TrainingState(member.state()).forms();
    long cursor = 10L * EXAMPLES;
    for (int step = 0; step < 40; step++) {
      Choice choice = choose(plugin, member, cursor, USUAL);
      if (step % 8 == 0) {
        ExampleSelector joiner = create(plugin);
        joiner.choose(cursor + 100, WANTED, position -> -position);
        new TrainingState(joiner.state()).copyFrom(new TrainingState(member.state()));
        assertSame(choose(plugin, joiner, cursor, USUAL), choice);
      }
      member.commit();
      assertThat(new TrainingState(member.state()).forms()).isEqualTo(forms);
      cursor = choice.cursor();
    }
  }

  @Tag("slow")
  @ParameterizedTest
  @MethodSource("selectors")
  void itChoosesTheShareThatItTells(ExampleSelectorPlugin plugin) throws IOException {
    ExampleSelector selector = create(plugin);
    long cursor = 0;
    int chosen = 0;
    while (chosen < 20_000) {
      cursor = choose(plugin, selector, cursor, USUAL).cursor();
      selector.commit();
      chosen += WANTED;
    }
    assertThat(selector.trained((double) cursor)).isCloseTo(chosen, within(0.03 * chosen));
    assertThat(selector.trained(0)).isZero();
    for (double judged = 0; judged < 5 * EXAMPLES; judged += 100) {
      assertThat(selector.trained(judged)).isBetween(0.0, judged);
      assertThat(selector.trained(judged + 100)).isGreaterThan(selector.trained(judged));
    }
  }

  /** Losses must not keep a job from going on. */
  @Tag("slow")
  @ParameterizedTest
  @MethodSource("selectors")
  void aStepEndsWhateverTheLossesAre(ExampleSelectorPlugin plugin) throws IOException {
    List<Losses> all =
        List.of(
            _ -> 0,
            _ -> Float.NaN,
            _ -> Float.POSITIVE_INFINITY,
            _ -> Float.NEGATIVE_INFINITY,
            position -> -position,
            position -> position);
    for (Losses losses : all) {
      ExampleSelector selector = create(plugin);
      long cursor = 10L * EXAMPLES;
      double share = (selector.trained(1e6 + 1e5) - selector.trained(1e6)) / 1e5;
      for (int step = 0; step < 40; step++) {
        Choice choice = choose(plugin, selector, cursor, losses);
        assertThat((double) choice.cursor() - cursor).isLessThan((4 / share + 1) * WANTED + 1);
        selector.commit();
        cursor = choice.cursor();
      }
    }
  }

  @ParameterizedTest
  @MethodSource("selectors")
  void aLossThatCannotBeHadEndsTheChoice(ExampleSelectorPlugin plugin) throws IOException {
    if (plugin.usesLosses()) {
      ExampleSelector selector = create(plugin);
      IOException died = new IOException("a replica died");
      assertThatThrownBy(() ->
              selector.choose(
                  10L * EXAMPLES,
                  WANTED,
                  _ -> {
                    throw died;
                  }))
          .isSameAs(died);
      assertSame(
          choose(plugin, selector, 10L * EXAMPLES, USUAL),
          choose(plugin, create(plugin), 10L * EXAMPLES, USUAL));
    }
  }

  @Test
  void choicesThatAreNoneAreRefused() {
    assertThat(new Choice(new long[] {4, 6}, 9).check(4, 2).cursor()).isEqualTo(9);
    refused(new Choice(new long[] {4}, 9), "chose 1 examples instead of 2");
    refused(new Choice(new long[] {3, 6}, 9), "chose position 3 and may choose from 4 on");
    refused(new Choice(new long[] {6, 6}, 9), "chose position 6 and may choose from 7 on");
    refused(new Choice(new long[] {6, 8}, 8), "puts the cursor to 8, before its last example");
  }

  private static void refused(Choice choice, String message) {
    assertThatThrownBy(() -> choice.check(4, 2))
        .as(Arrays.toString(choice.positions()))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining(message);
  }
}
