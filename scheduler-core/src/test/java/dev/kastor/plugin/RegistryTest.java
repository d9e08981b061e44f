package dev.kastor.plugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class RegistryTest {
  private enum Order {
    FIRST_COME,
    LARGEST
  }

  private static final Option<Double> SHARE =
      Option.number("share", 0.5, "share of the GPUs").where(v -> v > 0 && v <= 1, "above 0 to 1");
  private static final Option<Double> LIMIT =
      Option.number("limit", Double.POSITIVE_INFINITY, "seconds after which it ends");
  private static final Option<Integer> QUEUES =
      Option.count("queues", 2, "queues of jobs").where(v -> v >= 1, "of at least 1");
  private static final Option<Boolean> MOVES = Option.flag("moves", false, "whether jobs move");
  private static final Option<Order> ORDER =
      Option.choice("order", Order.class, Order.LARGEST, "which job is first");

  private record Named(String name, List<Option<?>> options) implements Plugin {
    @Override
    public String description() {
      return "Sorts jobs.";
    }
  }

  private static final Named SORTER =
      new Named("sorter", List.of(SHARE, LIMIT, QUEUES, MOVES, ORDER));
  private static final Named PLAIN = new Named("plain", List.of());
  private static final Registry<Named> REGISTRY = Registry.of("sorter", List.of(SORTER, PLAIN));

  @Test
  void readsOptionsByNameAndKeepsTheDefaultsOfTheOthers() {
    Options options =
        REGISTRY.choose("sorter:order=first-come:share=0.25:queues=3:moves=true").options();
    assertThat(options.get(SHARE)).isEqualTo(0.25);
    assertThat(options.get(LIMIT)).isInfinite();
    assertThat(options.get(QUEUES)).isEqualTo(3);
    assertThat(options.get(MOVES)).isTrue();
    assertThat(options.get(ORDER)).isEqualTo(Order.FIRST_COME);
  }

  @ParameterizedTest
  @CsvSource({
    "sorter, sorter",
    "sorter:share=0.5, sorter",
    "sorter:share=.250, sorter:share=0.25",
    "sorter:limit=1e3, sorter:limit=1000",
    "sorter:limit=-0, sorter:limit=0",
    "sorter:limit=Infinity, sorter",
    "sorter:queues=1e1, sorter:queues=10",
    "sorter:order=largest:moves=true:share=1, sorter:share=1:moves=true",
    "' sorter : queues = 3 ', sorter:queues=3"
  })
  void equalValuesHaveOneText(String text, String canonical) {
    Chosen<Named> chosen = REGISTRY.choose(text);
    assertThat(chosen).hasToString(canonical).isEqualTo(REGISTRY.choose(canonical));
    assertThat(chosen).hasSameHashCodeAs(REGISTRY.choose(canonical));
  }

  @Test
  void otherValuesAreNotEqual() {
    assertThat(REGISTRY.choose("sorter:queues=3"))
        .isNotEqualTo(REGISTRY.choose("sorter"))
        .isNotEqualTo(REGISTRY.choose("sorter:queues=4"));
    assertThat(REGISTRY.choose("sorter").with(QUEUES, 3))
        .isEqualTo(REGISTRY.choose("sorter:queues=3"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "quick | there is no sorter 'quick'. Use one of: sorter, plain",
        "sorter:speed=1 | sorter sorter has no option 'speed'. Use one of: share, limit, queues",
        "sorter:Shaer=1 | Use one of: share, limit, queues, moves, order. Did you mean share?",
        "plian | there is no sorter 'plian'. Use one of: sorter, plain. Did you mean plain?",
        "plain:share=1 | sorter plain has no option 'share'. It has none.",
        "sorter:share=2 | share must be a number above 0 to 1 but is '2' (share of the GPUs)",
        "sorter:share=NaN | share must be a number above 0 to 1 but is 'NaN'",
        "sorter:share=much | share must be a number above 0 to 1 but is 'much'",
        "sorter:queues=1.5 | queues must be a whole number of at least 1 but is '1.5'",
        "sorter:queues=99999999999 | queues must be a whole number of at least 1",
        "sorter:moves=yes | moves must be true or false but is 'yes'",
        "sorter:order=random | order must be one of first-come, largest but is 'random'",
        "sorter:share | 'sorter:share' must be NAME or NAME:OPTION=VALUE",
        "sorter:=1 | 'sorter:=1' must be NAME or NAME:OPTION=VALUE",
        "sorter:share=1:share=1 | 'sorter:share=1:share=1' sets share twice"
      })
  void saysWhatIsValid(String text, String message) {
    assertThatThrownBy(() -> REGISTRY.choose(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  @Test
  void refusesTwoOfOneName() {
    assertThatThrownBy(() -> Registry.of("sorter", List.of(PLAIN, new Named("plain", List.of()))))
        .hasMessageContaining("two classes are sorter 'plain'");
    assertThatThrownBy(
            () -> Registry.of("sorter", List.of(new Named("twice", List.of(SHARE, SHARE)))))
        .hasMessageContaining("sorter twice has two options share");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "-a", "a:b", "a,b", "a b"})
  void refusesNamesThatCannotBeWritten(String name) {
    assertThatThrownBy(() -> Registry.of("sorter", List.of(new Named(name, List.of()))))
        .hasMessageContaining("the name of sorter '" + name + "'");
  }

  @Test
  void refusesAnOptionThatIsNoneOfThePlugIn() {
    assertThatThrownBy(() -> REGISTRY.choose("plain").options().get(SHARE))
        .hasMessageContaining("option share is none of this plug-in's");
    assertThatThrownBy(() -> Option.count("queues", 0, "queues").where(v -> v > 0, "above 0"))
        .hasMessageContaining("the default of option queues must be a whole number above 0");
  }

  @Test
  void aSelectionTakesAValueForWhatItDoesNotSet() {
    Selection selection = Selection.parse("sorter:queues=3");
    assertThat(selection.orElse("queues", "4").orElse("share", "1").values())
        .isEqualTo(Map.of("queues", "3", "share", "1"));
  }
}
