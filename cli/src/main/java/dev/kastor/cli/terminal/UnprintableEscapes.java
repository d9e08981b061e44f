package dev.kastor.cli.terminal;

import com.fasterxml.jackson.core.SerializableString;
import com.fasterxml.jackson.core.io.CharacterEscapes;
import com.fasterxml.jackson.core.io.SerializedString;
import dev.kastor.text.PrintableText;
import java.io.Serial;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** JSON's escapes, for every character that {@link PrintableText} would replace. */
final class UnprintableEscapes extends CharacterEscapes {
  @Serial private static final long serialVersionUID = 1;

  private static final int[] ASCII = ascii();

  private static int[] ascii() {
    int[] escapes = standardAsciiEscapesForJSON();
    escapes[0x7F] = ESCAPE_STANDARD;
    return escapes;
  }

  @Override
  public int[] getEscapeCodesForAscii() {
    return Arrays.copyOf(ASCII, ASCII.length);
  }

  @Override
  public @Nullable SerializableString getEscapeSequence(int c) {
    String text = Character.toString(c);
    return PrintableText.line(text).equals(text)
        ? null
        : new SerializedString("\\u%04X".formatted(c));
  }
}
