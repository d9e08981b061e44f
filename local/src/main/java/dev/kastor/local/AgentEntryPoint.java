package dev.kastor.local;

import dev.kastor.local.kubelet.EntryPoint;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Starts the training agent on the JDK that runs this process. */
final class AgentEntryPoint implements EntryPoint {
  private final Installation installation;
  private final String classPath;
  private final Path nativeLibraries;
  private final Path plugins;

  /**
   * @param nativeLibraries folder for the native libraries that the agent unpacks from its jars,
   *     which would otherwise go to the user's home
   * @param plugins folder with the jars of the user, if it exists
   */
  AgentEntryPoint(Installation installation, Path nativeLibraries, Path plugins)
      throws LocalException {
    this.installation = installation;
    this.classPath = installation.agentClassPath();
    this.nativeLibraries = nativeLibraries;
    this.plugins = plugins;
  }

  @Override
  public List<String> command(String image) {
    List<String> command = new ArrayList<>();
    command.add(Installation.java());
    command.addAll(installation.nativeOptions());
    command.addAll(
        List.of(
            "-Xmx256m",
            "-XX:+UseSerialGC",
            "--enable-native-access=ALL-UNNAMED",
            "-Dorg.bytedeco.javacpp.cachedir=" + nativeLibraries,
            "-Dkastor.plugins=" + plugins,
            "-cp",
            classPath,
            "dev.kastor.agent.Agent"));
    return command;
  }
}
