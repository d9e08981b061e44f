package dev.kastor.local;

import dev.kastor.local.kubelet.PrivateFiles;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** All that local mode keeps on disk, in one folder that one process at a time may use. */
public final class StateFolder implements AutoCloseable {
  /** Name of the folder in which jobs keep their checkpoints. */
  public static final String CHECKPOINTS = "checkpoints";

  /** What a rewrite of the journal may take. */
  private static final long LEAST_FREE_MIB = 64;

  private final Path root;
  private final FileChannel channel;

  private StateFolder(Path root, FileChannel channel) {
    this.root = root;
    this.channel = channel;
  }

  /** {@code KASTOR_HOME}, or {@code ~/.kastor}. */
  public static Path home() {
    String home = System.getenv("KASTOR_HOME");
    return home == null || home.isEmpty()
        ? Path.of(System.getProperty("user.home"), ".kastor")
        : Path.of(home).toAbsolutePath().normalize();
  }

  /**
   * Opens the folder for this process alone.
   *
   * @throws LocalException if another process uses it, or others may write to it
   */
  public static StateFolder lock(Path root) throws IOException, LocalException {
    PrivateFiles.directory(root);
    OwnFiles.check(root, plugins(root));
    Path file = PrivateFiles.touch(root.resolve("lock"));
    FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE);
    try {
      @Nullable FileLock lock = channel.tryLock();
      if (lock != null) {
        PrivateFiles.write(
            pidFile(root),
            Long.toString(ProcessHandle.current().pid()).getBytes(StandardCharsets.US_ASCII));
        return new StateFolder(root, channel);
      }
    } catch (OverlappingFileLockException e) {
      // The other one is this very process.
    }
    String pid = Files.exists(pidFile(root)) ? Files.readString(pidFile(root)) : "?";
    channel.close();
    throw new LocalException(
        "Kastor already runs on %s (process %s). Use it, or end it with: kastor down"
            .formatted(root, pid));
  }

  /** File with the process that runs on a state folder. */
  public static Path pidFile(Path root) {
    return root.resolve("pid");
  }

  /** The kubeconfig by which commands reach what runs on a state folder. */
  public static Path kubeconfig(Path root) {
    return root.resolve("kubeconfig");
  }

  public Path root() {
    return root;
  }

  public Path kubeconfig() {
    return kubeconfig(root);
  }

  /** Folder for jars with programs and policies of the user. */
  public Path plugins() {
    return plugins(root);
  }

  /** Folder for jars with programs and policies of the user, in a state folder. */
  public static Path plugins(Path root) {
    return root.resolve("plugins");
  }

  /**
   * Refuses a state folder, or jars of it, that others may write to.
   *
   * @throws LocalException if others may
   */
  public static void check(Path root) throws IOException, LocalException {
    OwnFiles.check(root, plugins(root));
  }

  /** Where pods' and the operator's output goes. */
  public Path logs() {
    return root.resolve("logs");
  }

  public Path operatorLog() {
    return logs().resolve("operator.log");
  }

  Path journal() {
    return root.resolve("objects.jsonl");
  }

  Path pods() {
    return root.resolve("pods");
  }

  Path tls() {
    return root.resolve("tls");
  }

  /** Files that the operator's HTTP server unpacks; a killed operator leaves them behind. */
  Path operatorCache() {
    return root.resolve("operator");
  }

  /** Where jobs keep their checkpoints. */
  public Path checkpoints() {
    return root.resolve(CHECKPOINTS);
  }

  /** Where agents unpack native libraries, once for all of them. */
  Path nativeLibraries() {
    return nativeLibraries(root);
  }

  /** Where agents unpack native libraries in a state folder. */
  public static Path nativeLibraries(Path root) {
    return root.resolve("native");
  }

  /** Why the disk of this folder will soon refuse writes. */
  Optional<String> shortOfRoom() {
    try {
      long free = Files.getFileStore(root).getUsableSpace() >> 20;
      return free < LEAST_FREE_MIB
          ? Optional.of(
              "%d MiB are free on the disk of %s, and %d are needed"
                  .formatted(free, root, LEAST_FREE_MIB))
          : Optional.empty();
    } catch (IOException e) {
      return Optional.of("%s cannot be looked at: %s".formatted(root, e.getMessage()));
    }
  }

  /** Unlocks the folder and removes what is worth nothing without the process. */
  @Override
  public void close() throws IOException {
    try (channel) {
      Files.deleteIfExists(kubeconfig());
      Files.deleteIfExists(pidFile(root));
      PrivateFiles.delete(pods());
      PrivateFiles.delete(tls());
    }
  }
}
