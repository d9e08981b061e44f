package dev.kastor.text;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

final class PrintableTextTest {
  private static final String HOSTILE =
      "a\033]0;T\007b\r\n12:00:00.000 INFO c\u009B2Jd\u202Ee\u2066f\tg\u2028h\177i\u0085j";

  @Tag("slow")
  @Test
  void plainTextStaysAsItIs() {
    String text = "loss 0.5, 日本語, ü, عربى, 🙂";
    assertThat(PrintableText.line(text)).isSameAs(text);
    assertThat(PrintableText.lines(text)).isSameAs(text);
    assertThat(PrintableText.entry(text + "\n")).isEqualTo(text + "\n");
  }

  @Test
  void aLineHasNoBreaksAndNothingThatActs() {
    assertThat(PrintableText.line(HOSTILE))
        .isEqualTo("a\uFFFD]0;T\uFFFDb  12:00:00.000 INFO c\uFFFD2Jd\uFFFDe\uFFFDf g h\uFFFDi j");
  }

  @Test
  void everyControlAndDirectionIsReplaced() {
    for (int c = 0; c <= Character.MAX_VALUE; c++) {
      String shown = PrintableText.line("" + (char) c);
      boolean acts =
          Character.isISOControl(c)
              || switch (Character.getDirectionality((char) c)) {
                case Character.DIRECTIONALITY_LEFT_TO_RIGHT_EMBEDDING,
                    Character.DIRECTIONALITY_LEFT_TO_RIGHT_OVERRIDE,
                    Character.DIRECTIONALITY_RIGHT_TO_LEFT_EMBEDDING,
                    Character.DIRECTIONALITY_RIGHT_TO_LEFT_OVERRIDE,
                    Character.DIRECTIONALITY_POP_DIRECTIONAL_FORMAT,
                    Character.DIRECTIONALITY_LEFT_TO_RIGHT_ISOLATE,
                    Character.DIRECTIONALITY_RIGHT_TO_LEFT_ISOLATE,
                    Character.DIRECTIONALITY_FIRST_STRONG_ISOLATE,
                    Character.DIRECTIONALITY_POP_DIRECTIONAL_ISOLATE,
                    Character.DIRECTIONALITY_PARAGRAPH_SEPARATOR ->
                    true;
                default -> false;
              };
      if (acts) {
        assertThat(shown).as("U+%04X", c).isIn(" ", "\uFFFD");
      }
    }
  }

  @Test
  void anEntryOfALogHasNoLineThatLooksLikeAnother() {
    assertThat(PrintableText.entry(HOSTILE + "\n\tat X\nCaused by: y\n"))
        .isEqualTo(
            "a\uFFFD]0;T\uFFFDb \n\t12:00:00.000 INFO c\uFFFD2Jd\uFFFDe\uFFFDf\tg h\uFFFDi j"
                + "\n\tat X\n\tCaused by: y\n");
  }
}
