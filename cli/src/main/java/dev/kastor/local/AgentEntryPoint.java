package dev.kastor.local;

import dev.kastor.local.kubelet.EntryPoint;
import java.util.List;

/** Starts the training agent on the JDK that runs this process. */
final class AgentEntryPoint implements EntryPoint {
  private final String classPath;

  AgentEntryPoint(String classPath) {
    this.classPath = classPath;
  }

  @Override
  public List<String> command(String image) {
    return List.of(
        Installation.java(),
        "-Xmx256m",
        "-XX:+UseSerialGC",
        "--enable-native-access=ALL-UNNAMED",
        "-Dorg.bytedeco.javacpp.cachedir=" + cache.resolve("native"),
        "-cp",
        classPath,
        "dev.kastor.agent.Agent");
  }
}
