package dev.kastor.local;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;

/**
 * Place of the cache of an agent's classes, loaded and linked, with profiles of their methods (JEP
 * 483, JEP 514, JEP 515).
 *
 * <p>A cache is for the JDK, the options and the jars that it was made with. A JVM compares all of
 * them, but before 25.0.4 not the jars (JDK-8377932): it runs the classes of the cache, though a
 * build has replaced the jar since. The name of a cache in a checkout is therefore made of them.
 * The jars of a release stay as they are.
 */
final class AgentCache {
  private static final int NAME_BYTES = 8;

  private AgentCache() {}

  /**
   * Where the cache of the jars that are there now is, once it has been made.
   *
   * @param options of the JVM on which the cache depends
   */
  static Path of(Installation installation, List<String> options) throws LocalException {
    if (installation.isRelease()) {
      return installation.root().resolve("lib/agent.aot");
    }
    StringBuilder madeOf = new StringBuilder(Runtime.version() + " " + options);
    for (Path jar : installation.agentJars()) {
      try {
        madeOf
            .append('\n')
            .append(jar)
            .append(' ')
            .append(Files.size(jar))
            .append(' ')
            .append(Files.getLastModifiedTime(jar));
      } catch (IOException e) {
        throw new LocalException("cannot read %s: %s".formatted(jar, e.getMessage()));
      }
    }
    return installation.agentFolder().resolve("agent-%s.aot".formatted(name(madeOf.toString())));
  }

  private static String name(String madeOf) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(madeOf.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest, 0, NAME_BYTES);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
