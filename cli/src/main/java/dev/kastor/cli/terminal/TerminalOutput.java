package dev.kastor.cli.terminal;

import dev.kastor.text.PrintableText;
import java.io.FilterWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.io.Writer;

/**
 * Output of the command, through which all that it prints goes: of control characters it passes
 * line feeds, tabs and {@link ControlSequence}s of our own.
 *
 * <p>An output that cannot be written ends the command with an {@link UncheckedIOException}: a
 * result that is not there must not look like success, and nobody reads what comes after a pipe
 * broke.
 */
public final class TerminalOutput extends PrintWriter {
  private final Writer raw;

  public TerminalOutput(Writer raw) {
    super(new Printable(raw), true);
    this.raw = raw;
  }

  /** The output that passes everything, for a program's bytes on their way to another program. */
  public PrintWriter raw() {
    flush();
    return new PrintWriter(raw, true);
  }

  private static final class Printable extends FilterWriter {
    private Printable(Writer out) {
      super(out);
    }

    @Override
    public void write(int c) {
      write(String.valueOf((char) c));
    }

    @Override
    public void write(char[] text, int offset, int length) {
      write(new String(text, offset, length));
    }

    @Override
    public void write(String text, int offset, int length) {
      write(text.substring(offset, offset + length));
    }

    @Override
    public void write(String text) {
      // The library that prints help ends each colour with the one sequence that only ends colours.
      String marked = Ink.enabled() ? text.replace(Ink.RESET, Ink.PLAIN) : text;
      try {
        out.write(
            PrintableText.lines(marked).replace(ControlSequence.MARK, ControlSequence.INTRODUCER));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public void flush() {
      try {
        out.flush();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
