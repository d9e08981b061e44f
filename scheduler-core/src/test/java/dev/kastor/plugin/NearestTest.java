package dev.kastor.plugin;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NearestTest {
  private static final List<String> PROGRAMS =
      List.of("glyph-mlp", "glyph-cnn", "image-mlp", "table-wide-deep", "labelColumn", "hidden");

  @ParameterizedTest
  @CsvSource({
    "glyph-mpl, glyph-mlp",
    "glyph-cn, glyph-cnn",
    "glyphs-cnn, glyph-cnn",
    "Image-MLP, image-mlp",
    "labelcolum, labelColumn",
    "hiden, hidden",
    "glyph-mlp, glyph-mlp"
  })
  void findsWhatWasMeant(String written, String meant) {
    assertThat(Nearest.of(written, PROGRAMS)).contains(meant);
  }

  @ParameterizedTest
  @CsvSource({"spirals", "lr", "x", "''", "momentum"})
  void asksForNothingThatIsUnlike(String written) {
    assertThat(Nearest.of(written, PROGRAMS)).isEmpty();
    assertThat(Nearest.question(written, PROGRAMS)).isEmpty();
  }
}
