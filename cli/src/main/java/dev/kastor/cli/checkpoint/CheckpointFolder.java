package dev.kastor.cli.checkpoint;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Folder with the checkpoints of one job: {@code NAMESPACE/NAME-UID} below the folder of all.
 *
 * @param path where it is
 * @param namespace of the job
 * @param job name of the job
 * @param uid of the job
 * @param saved its checkpoints, the newest first
 */
record CheckpointFolder(Path path, String namespace, String job, String uid, List<Saved> saved) {
  private static final Pattern FOLDER =
      Pattern.compile("(.+)-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})");

  /** As programs of Kastor's engine and as the Python client name them. */
  private static final Pattern FILE = Pattern.compile("step-([0-9]{1,18})\\.(?:ckpt|kpt)");

  /**
   * One checkpoint.
   *
   * @param step after which it was saved
   * @param bytes length of the file
   * @param at when it was saved
   */
  record Saved(Path file, long step, long bytes, Instant at) {}

  CheckpointFolder {
    saved = List.copyOf(saved);
  }

  /** All folders below {@code root}, by namespace and job; none where there is no such folder. */
  static List<CheckpointFolder> all(Path root) throws IOException {
    List<CheckpointFolder> folders = new ArrayList<>();
    for (Path namespace : below(root)) {
      for (Path folder : below(namespace)) {
        Matcher name = FOLDER.matcher(String.valueOf(folder.getFileName()));
        if (name.matches()) {
          folders.add(
              new CheckpointFolder(
                  folder,
                  String.valueOf(namespace.getFileName()),
                  name.group(1),
                  name.group(2),
                  saved(folder)));
        }
      }
    }
    folders.sort(
        Comparator.comparing(CheckpointFolder::namespace)
            .thenComparing(CheckpointFolder::job)
            .thenComparing(CheckpointFolder::uid));
    return folders;
  }

  private static List<Path> below(Path folder) throws IOException {
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> entries = Files.list(folder)) {
      return entries.filter(Files::isDirectory).toList();
    }
  }

  /** The checkpoints in a folder, the newest first. */
  static List<Saved> saved(Path folder) throws IOException {
    List<Saved> saved = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "step-*")) {
      for (Path file : files) {
        Matcher name = FILE.matcher(String.valueOf(file.getFileName()));
        if (name.matches()) {
          saved.add(
              new Saved(
                  file,
                  Long.parseLong(name.group(1)),
                  Files.size(file),
                  Files.getLastModifiedTime(file).toInstant()));
        }
      }
    }
    saved.sort(Comparator.comparingLong(Saved::step).reversed());
    return saved;
  }

  /** The checkpoint of a step, or the newest. */
  Optional<Saved> saved(Optional<Long> step) {
    return saved.stream().filter(each -> step.isEmpty() || each.step() == step.get()).findFirst();
  }

  /** Bytes of all of them. */
  long bytes() {
    return saved.stream().mapToLong(Saved::bytes).sum();
  }

  /** Removes the folder with all that is in it. */
  void remove() throws IOException {
    try (Stream<Path> all = Files.walk(path)) {
      for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(each);
      }
    }
  }
}
