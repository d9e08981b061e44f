package dev.kastor.local.kubelet;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Files and folders that only their owner can read, and their removal. */
public final class PrivateFiles {
  private static final FileAttribute<?> DIRECTORY_MODE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
  private static final FileAttribute<?> FILE_MODE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  private PrivateFiles() {}

  /** Creates a folder with its parents, mode 0700. */
  public static Path directory(Path path) throws IOException {
    if (!Files.isDirectory(path)) {
      Files.createDirectories(path, DIRECTORY_MODE);
    }
    return path;
  }

  /** Writes a file, mode 0600, so that no reader sees half of it. */
  public static void write(Path path, byte[] content) throws IOException {
    directory(path.resolveSibling(".").normalize());
    Path fresh = path.resolveSibling("." + path.getFileName() + ".new");
    Files.deleteIfExists(fresh);
    Files.createFile(fresh, FILE_MODE);
    Files.write(fresh, content);
    Files.move(fresh, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  /** Creates an empty file, mode 0600, unless it exists. */
  public static Path touch(Path path) throws IOException {
    directory(path.resolveSibling(".").normalize());
    if (!Files.exists(path)) {
      Files.createFile(path, FILE_MODE);
    }
    return path;
  }

  /** Removes a folder and all in it, following no links; no error where it does not exist. */
  public static void delete(Path folder) throws IOException {
    if (!Files.exists(folder)) {
      return;
    }
    Files.walkFileTree(
        folder,
        Set.of(),
        Integer.MAX_VALUE,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.deleteIfExists(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path dir, @Nullable IOException error)
              throws IOException {
            if (error != null) {
              throw error;
            }
            Files.deleteIfExists(dir);
            return FileVisitResult.CONTINUE;
          }
        });
  }
}
