package dev.kastor.cli.terminal;

import dev.kastor.text.PrintableText;
import java.io.PrintStream;
import org.jspecify.annotations.Nullable;

/**
 * Stream to which a logger prints an entry with each call of {@code println}: what others wrote
 * cannot make an entry of its own ({@link PrintableText#entry}).
 */
public final class LogStream extends PrintStream {
  public LogStream(PrintStream out) {
    super(out, true, out.charset());
  }

  @Override
  public void println(@Nullable String entry) {
    super.println(PrintableText.entry(String.valueOf(entry)));
  }

  /** A line of a stack trace, too: its first may hold a message that others wrote. */
  @Override
  public void println(@Nullable Object entry) {
    println(String.valueOf(entry));
  }
}
