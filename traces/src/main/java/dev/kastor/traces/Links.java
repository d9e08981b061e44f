package dev.kastor.traces;

import java.io.IOException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Symbolic links of a path's last name. */
final class Links {
  /** As many as Linux follows. */
  private static final int MOST = 40;

  private Links() {}

  /**
   * The file that a path leads to, which need not exist; a descriptor of a process stands for
   * itself.
   */
  static Path followed(Path path) throws IOException {
    Path at = path.toAbsolutePath();
    for (int i = 0; i <= MOST; i++) {
      if (!Files.isSymbolicLink(at) || Descriptor.named(at)) {
        return at;
      }
      at = at.resolveSibling(Files.readSymbolicLink(at));
    }
    throw new FileSystemLoopException(path.toString());
  }
}
