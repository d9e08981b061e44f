package dev.kastor.e2e.image;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Map;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Files of an image that change together.
 *
 * <p>Times, owners and the order of the file system are left out: the same files make the same
 * layer on every machine.
 */
final class Layer {
  private static final int PLAIN = 0644;
  private static final int EXECUTABLE = 0755;
  private static final int SHARED = 01777;

  private final SequencedMap<String, Path> files = new TreeMap<>();
  private final SequencedMap<String, Integer> folders = new TreeMap<>();

  /** All files below a folder. */
  Layer folder(Path from, String to) throws IOException {
    try (Stream<Path> found = Files.walk(from)) {
      found
          .filter(Files::isRegularFile)
          .forEach(file -> file(file, to + "/" + from.relativize(file)));
    }
    return this;
  }

  /** These files, each at its path. */
  Layer files(Map<String, Path> these) {
    these.forEach((to, file) -> file(file, to));
    return this;
  }

  /**
   * One file; what a symbolic link leads to in place of the link.
   *
   * @param to without a slash at the beginning
   */
  Layer file(Path from, String to) {
    files.put(to, from);
    for (int cut = to.indexOf('/'); cut > 0; cut = to.indexOf('/', cut + 1)) {
      folders.putIfAbsent(to.substring(0, cut), EXECUTABLE);
    }
    return this;
  }

  /** What it holds: files by their path in the image, without a slash at the beginning. */
  SequencedMap<String, Path> files() {
    return Collections.unmodifiableSequencedMap(files);
  }

  /** An empty folder that everybody may write to. */
  Layer writable(String path) {
    folders.put(path, SHARED);
    return this;
  }

  /** Writes the layer as a tar archive. */
  void write(OutputStream out) throws IOException {
    try (Tar tar = new Tar(out)) {
      for (var folder : folders.entrySet()) {
        tar.folder(folder.getKey(), folder.getValue());
      }
      for (var file : files.entrySet()) {
        int mode = Files.isExecutable(file.getValue()) ? EXECUTABLE : PLAIN;
        tar.file(file.getKey(), mode, file.getValue());
      }
    }
  }
}
