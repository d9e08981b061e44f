package dev.kastor.local;

import dev.kastor.local.kubelet.EntryPoint;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Start of the training agent on the JDK that runs this process. */
public final class AgentEntryPoint implements EntryPoint {
  /** Options on which the cache of classes depends: the one that records has the same. */
  private static final List<String> JVM =
      List.of("-Xmx256m", "-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED");

  private final Installation installation;
  private final String classPath;
  private final Path nativeLibraries;
  private final Path plugins;

  /**
   * An entry point of an installation's agent.
   *
   * @param nativeLibraries folder for the native libraries that the agent unpacks from its jars,
   *     which would otherwise go to the user's home
   * @param plugins folder with the jars of the user, if it exists
   */
  public AgentEntryPoint(Installation installation, Path nativeLibraries, Path plugins)
      throws LocalException {
    this.installation = installation;
    this.classPath = installation.agentClassPath();
    this.nativeLibraries = nativeLibraries;
    this.plugins = plugins;
  }

  /**
   * Where the cache of the classes of an installation's agent is, once it has been made: another
   * place after each change of the agent.
   */
  public static Path cache(Installation installation) throws LocalException {
    return AgentCache.of(installation, JVM);
  }

  @Override
  public List<String> command(String image) {
    return command(options());
  }

  /** The command line without the cache of classes. */
  public List<String> withoutCache() {
    return command(List.of());
  }

  private List<String> options() {
    try {
      Path cache = cache(installation);
      // Should the JVM not want it, nobody is to be told: the agent runs as well.
      return Files.exists(cache) ? List.of("-XX:AOTCache=" + cache, "-Xlog:aot=off") : List.of();
    } catch (LocalException e) {
      // The jars are being built.
      return List.of();
    }
  }

  private List<String> command(List<String> options) {
    List<String> command = new ArrayList<>();
    command.add(Installation.java());
    command.addAll(options);
    command.addAll(installation.nativeOptions());
    command.addAll(JVM);
    command.addAll(
        List.of(
            "-Dorg.bytedeco.javacpp.cachedir=" + nativeLibraries,
            "-Dkastor.plugins=" + plugins,
            "-cp",
            classPath,
            "dev.kastor.agent.Agent"));
    return command;
  }
}
