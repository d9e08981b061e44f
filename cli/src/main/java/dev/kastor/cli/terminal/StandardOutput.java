package dev.kastor.cli.terminal;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;

/** Standard output of this process, with the errors that {@link System#out} keeps to itself. */
public final class StandardOutput {
  private static final int KIND_OF_FILE = 0170000;
  private static final int CHARACTER_DEVICE = 0020000;

  private StandardOutput() {}

  public static Writer writer() {
    return new OutputStreamWriter(new FileOutputStream(FileDescriptor.out), System.out.charset());
  }

  /**
   * Whether it may be a terminal: a character device, or of a kind that cannot be told. A console
   * of Java's is one only where input is one as well.
   */
  public static boolean mayBeTerminal() {
    try {
      int mode = (Integer) Files.getAttribute(Path.of("/dev/stdout"), "unix:mode");
      return (mode & KIND_OF_FILE) == CHARACTER_DEVICE;
    } catch (IOException | UnsupportedOperationException e) {
      return true;
    }
  }
}
