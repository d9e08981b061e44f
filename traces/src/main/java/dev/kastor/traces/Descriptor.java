package dev.kastor.traces;

import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Open descriptor of a process by its path: {@code /dev/fd/3}, or {@code /proc/self/fd/1}, to which
 * {@code /dev/stdout} leads.
 */
final class Descriptor {
  private static final Pattern FOLDER = Pattern.compile("/dev/fd|/proc/(\\d+)(?:/task/\\d+)?/fd");

  private Descriptor() {}

  static boolean named(Path path) throws IOException {
    Path folder = path.getParent();
    return folder != null
        && (folder.startsWith("/proc") || folder.startsWith("/dev"))
        && path.getFileName().toString().matches("\\d+")
        && Files.isDirectory(folder)
        && FOLDER.matcher(folder.toRealPath().toString()).matches();
  }

  /** Appends to it: what else goes there, such as a table on standard output, stays. */
  static void write(Path path, AtomicFile.Content content) throws IOException {
    switch (ours(path) ? path.getFileName().toString() : "") {
      case "1" -> send(FileDescriptor.out, content);
      case "2" -> send(FileDescriptor.err, content);
      default ->
          AtomicFile.writeInto(path, content, StandardOpenOption.WRITE, StandardOpenOption.APPEND);
    }
  }

  private static boolean ours(Path path) throws IOException {
    Matcher folder = FOLDER.matcher(path.resolveSibling("").toRealPath().toString());
    return folder.matches()
        && (folder.group(1) == null
            || folder.group(1).equals(Long.toString(ProcessHandle.current().pid())));
  }

  /** Through our own descriptor: a second one of the same file has an offset of its own. */
  @SuppressWarnings("StreamResourceLeak") // It is not ours to close.
  private static void send(FileDescriptor descriptor, AtomicFile.Content content)
      throws IOException {
    OutputStream out = new BufferedOutputStream(new FileOutputStream(descriptor));
    content.writeTo(out);
    out.flush();
  }
}
