package dev.kastor.engine.select;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.engine.train.ExampleSelector;
import dev.kastor.engine.train.ExampleSelectorPlugin;
import dev.kastor.plugin.Chosen;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** Numbers of selective-backprop that were computed beside this code, in Python. */
class SelectiveBackpropTest {
  private static final float[] LOSSES = {
    .5f, .1f, .9f, .3f, .3f, .7f, .2f, .4f, .6f, .1f, .8f, .3f, .25f, .55f, .2f, .45f
  };
  private static final double[] PLACES = {
    .5, .25, .833333, .375, .4, .75, .214286, .5625, .6875, .0625, .9375, .375, .3125, .6875, .1875,
    .5625
  };

  private static ExampleSelector selector(String options) {
    Chosen<ExampleSelectorPlugin> chosen = ExampleSelectors.BUILT_IN.choose("backprop:" + options);
    return chosen.plugin().create(chosen.options(), 1000, 7);
  }

  @Test
  void aLossStandsInTheMiddleOfItsEquals() {
    LossHistory history = new LossHistory(8);
    for (int i = 0; i < LOSSES.length; i++) {
      assertThat(history.add(LOSSES[i])).as("loss %d", i).isCloseTo(PLACES[i], within(1e-6));
    }
  }

  @Test
  void choosesByOneDrawEach() throws IOException {
    ExampleSelector.Choice choice =
        selector("beta=1:history=8:wholeEpochs=0").choose(0, 4, position -> LOSSES[(int) position]);
    assertThat(choice.positions()).containsExactly(5, 10, 11, 13);
    assertThat(choice.cursor()).isEqualTo(14);
  }

  @Test
  void equalLossesAreChosenAsOftenAsTheirMiddleSays() {
    LossHistory history = new LossHistory(4);
    for (int i = 0; i < 20; i++) {
      assertThat(history.add(0)).isEqualTo(0.5);
    }
  }

  @Test
  void aLossThatIsNoNumberIsTheLargest() {
    LossHistory history = new LossHistory(8);
    history.add(1);
    history.add(Float.MAX_VALUE);
    assertThat(history.add(Float.NaN)).isEqualTo(2.5 / 3);
    assertThat(history.add(2)).isEqualTo(1.5 / 4);
  }

  @Test
  void theFirstEpochIsTrainedWholeWithoutALook() throws IOException {
    ExampleSelector selector = selector("beta=3");
    ExampleSelector.Choice choice =
        selector.choose(
            900,
            200,
            position -> {
              assertThat(position).isGreaterThanOrEqualTo(1000);
              return position;
            });
    assertThat(choice.positions()).startsWith(900, 901, 902).contains(999);
    assertThat(choice.cursor()).isGreaterThan(1100);
    assertThat(selector.trained(1000)).isEqualTo(1000);
    assertThat(selector.trained(3000)).isEqualTo(1500);
  }
}
