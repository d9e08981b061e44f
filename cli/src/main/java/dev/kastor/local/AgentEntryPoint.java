package dev.kastor.local;

import dev.kastor.local.kubelet.EntryPoint;
import java.nio.file.Path;
import java.util.List;

/** Starts the training agent on the JDK that runs this process. */
final class AgentEntryPoint implements EntryPoint {
  private final String classPath;
  private final Path cache;

  AgentEntryPoint(String classPath, Path cache) {
    this.classPath = classPath;
    this.cache = cache;
  }

  @Override
  public List<String> command(String image) {
    return List.of(
        Installation.java(),
        "-Xmx256m",
        "-XX:+UseSerialGC",
        "-XX:+AutoCreateSharedArchive",
        "-XX:SharedArchiveFile=" + cache.resolve("agent.jsa"),
        "-Xlog:cds=off",
        "-Xlog:aot=off",
        "--enable-native-access=ALL-UNNAMED",
        "-Dorg.bytedeco.javacpp.cachedir=" + cache.resolve("native"),
        "-cp",
        classPath,
        "dev.kastor.agent.Agent");
  }
}
