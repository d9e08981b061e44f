package dev.kastor.e2e.image;

import dev.kastor.local.kubelet.PrivateFiles;
import dev.kastor.local.rehearsal.AgentRehearsal;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.security.MessageDigest;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.stream.Stream;

/**
 * Classes of the agent of an image as the JVM wants them.
 *
 * @param jre of the image
 * @param files of the agent, by their paths in the image
 * @param staged folder in which the agent is rehearsed with the files as the image has them
 */
record AgentClasses(Path jre, SequencedMap<String, Path> files, Path staged) {
  private static final int KEPT = 4;
  private static final FileTime NO_TIME = FileTime.fromMillis(0);

  /**
   * The cache of the classes; made when a file or the rehearsal changed.
   *
   * @param caches folder of caches, of which the newest are kept
   * @param command what starts the staged agent
   */
  Path cached(Path caches, List<String> command) throws IOException, InterruptedException {
    Path cache = caches.resolve("agent-%s.aot".formatted(fingerprint()));
    if (Files.exists(cache)) {
      return cache;
    }
    Files.createDirectories(caches);
    deleteOld(caches);
    stage();
    // In a folder of its own: others may be rehearsing too.
    Path fresh = Files.createTempDirectory(caches, "fresh-");
    try {
      Path made = fresh.resolve("agent.aot");
      AgentRehearsal.record(command, fresh, made);
      return Files.move(made, cache, StandardCopyOption.REPLACE_EXISTING);
    } finally {
      PrivateFiles.delete(staged);
      PrivateFiles.delete(fresh);
    }
  }

  /** Other checkouts of this machine have caches of their own here. */
  private static void deleteOld(Path caches) throws IOException {
    try (Stream<Path> all = Files.list(caches)) {
      List<Path> old =
          all.filter(each -> String.valueOf(each.getFileName()).startsWith("agent-"))
              .sorted(Comparator.comparingLong((Path each) -> each.toFile().lastModified()))
              .toList()
              .reversed();
      for (Path file : old.subList(Math.min(KEPT - 1, old.size()), old.size())) {
        Files.deleteIfExists(file);
      }
    }
  }

  /** Puts the files as the image has them, without times: the JVM compares. */
  private void stage() throws IOException {
    for (Map.Entry<String, Path> file : files.entrySet()) {
      Path to = staged.resolve(file.getKey());
      Files.createDirectories(to.getParent());
      Files.copy(
          file.getValue(),
          to,
          StandardCopyOption.REPLACE_EXISTING,
          StandardCopyOption.COPY_ATTRIBUTES);
      Files.setLastModifiedTime(to, NO_TIME);
    }
  }

  private String fingerprint() throws IOException {
    MessageDigest sha = Layout.sha256();
    sha.update(Files.readAllBytes(jre.resolve("release")));
    for (Class<?> part : AgentRehearsal.parts()) {
      try (InputStream code =
          Objects.requireNonNull(part.getResourceAsStream(part.getSimpleName() + ".class"))) {
        sha.update(code.readAllBytes());
      }
    }
    for (Path file : files.values()) {
      sha.update(Files.readAllBytes(file));
    }
    return HexFormat.of().formatHex(sha.digest(), 0, 8);
  }
}
