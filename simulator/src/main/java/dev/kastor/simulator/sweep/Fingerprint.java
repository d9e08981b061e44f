package dev.kastor.simulator.sweep;

import dev.kastor.plugin.Plugin;
import dev.kastor.simulator.run.Run;
import java.io.IOException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedSet;
import java.util.stream.Stream;

/** What the results of some runs depend on: their settings and the content of their files. */
public final class Fingerprint {
  private Fingerprint() {}

  static String of(List<Run> runs) throws IOException {
    MessageDigest digest = sha256();
    SequencedSet<Path> files = new LinkedHashSet<>();
    for (Run run : runs) {
      digest.update((run + "\n").getBytes(StandardCharsets.UTF_8));
      files.addAll(below(Path.of(run.workload())));
      files.addAll(below(run.profiles()));
      files.addAll(jars(run.policy().plugin()));
    }
    add(files, digest);
    return HexFormat.of().formatHex(digest.digest());
  }

  /** Jars that a plug-in may use: all that were read with it; none for a built-in one. */
  public static List<Path> jars(Plugin plugin) {
    List<Path> files = new ArrayList<>();
    if (plugin.getClass().getClassLoader() instanceof URLClassLoader jars) {
      for (URL jar : jars.getURLs()) {
        files.add(Path.of(URI.create(jar.toString())));
      }
    }
    return files;
  }

  /** The content of a file, or of all files below a folder. */
  public static String of(Path path) throws IOException {
    MessageDigest digest = sha256();
    add(below(path), digest);
    return HexFormat.of().formatHex(digest.digest());
  }

  /** A text. */
  public static String of(String text) {
    return HexFormat.of().formatHex(sha256().digest(text.getBytes(StandardCharsets.UTF_8)));
  }

  private static void add(Collection<Path> files, MessageDigest digest) throws IOException {
    for (Path file : files) {
      digest.update(file.toString().getBytes(StandardCharsets.UTF_8));
      // The length ends the name, so that no two lists of files give the same bytes.
      digest.update("\n%d\n".formatted(Files.size(file)).getBytes(StandardCharsets.UTF_8));
      digest.update(Files.readAllBytes(file));
    }
  }

  private static List<Path> below(Path path) throws IOException {
    if (!Files.isDirectory(path)) {
      return List.of(path);
    }
    try (Stream<Path> all = Files.walk(path)) {
      return new ArrayList<>(all.filter(Files::isRegularFile).sorted().toList());
    }
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
