package dev.kastor.local;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/**
 * Files that only the user may change. Jars of the folder of plug-ins are code that runs as the
 * user, so whoever can write there could run his own.
 */
final class OwnFiles {
  private static final Set<PosixFilePermission> OTHERS_WRITE =
      Set.of(PosixFilePermission.GROUP_WRITE, PosixFilePermission.OTHERS_WRITE);

  private OwnFiles() {}

  /** Refuses a state folder, or a file of its folder of plug-ins, that others may write to. */
  static void check(Path root, Path plugins) throws IOException, LocalException {
    check(root);
    if (Files.isDirectory(plugins)) {
      check(plugins);
      try (DirectoryStream<Path> files = Files.newDirectoryStream(plugins)) {
        for (Path file : files) {
          check(file);
        }
      }
    }
  }

  private static void check(Path path) throws IOException, LocalException {
    if (!Files.exists(path)) {
      return;
    }
    PosixFileAttributes attributes = Files.readAttributes(path, PosixFileAttributes.class);
    if (attributes.permissions().stream().anyMatch(OTHERS_WRITE::contains)) {
      throw new LocalException(
          "%s may be written to by others (mode %s), who could run programs as you with it. Take"
                  .formatted(path, PosixFilePermissions.toString(attributes.permissions()))
              + " that right away: chmod go-w "
              + path);
    }
    String owner = attributes.owner().getName();
    String user = System.getProperty("user.name");
    if (!owner.equals(user) && !owner.equals("root")) {
      throw new LocalException(
          "%s belongs to %s, who could run programs as %s with it. Use a folder of your own, for"
                  .formatted(path, owner, user)
              + " example with KASTOR_HOME");
    }
  }
}
