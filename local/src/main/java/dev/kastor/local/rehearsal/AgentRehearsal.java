package dev.kastor.local.rehearsal;

import dev.kastor.local.AgentEntryPoint;
import dev.kastor.local.Installation;
import dev.kastor.local.LocalException;
import dev.kastor.local.TlsMaterial;
import dev.kastor.local.kubelet.PrivateFiles;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Run of the agent through what a replica may live, so that the JVM notes which classes that took,
 * how they were linked and which methods are worth compiling (JEP 483, JEP 514, JEP 515). With what
 * it notes, a replica starts with half the work and joins others without loading a class.
 */
public final class AgentRehearsal {
  /** Processor time, as the clock says more about what runs beside the agent. */
  private static final Duration PATIENCE = Duration.ofMinutes(3);

  /** Time on the clock for an agent that hangs, and so needs no processor. */
  private static final Duration LONGEST = Duration.ofMinutes(20);

  /** Options for all JVMs of who builds, which replicas do not have. */
  private static final Set<String> OPTIONS_OF_OTHERS =
      Set.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS");

  private AgentRehearsal() {}

  /**
   * Makes the cache of the installation that this process was started from, unless it is there;
   * status 1 where that fails.
   */
  public static void main(String[] arguments) throws InterruptedException {
    try {
      make(Installation.current());
    } catch (IOException | LocalException e) {
      System.err.println(
          "kastor: replicas of local mode will start slower, as their classes could not be cached: "
              + e.getMessage());
      System.exit(1);
    }
  }

  /** Makes the cache of an installation, unless it is there. */
  static void make(Installation installation)
      throws IOException, LocalException, InterruptedException {
    Path cache = AgentEntryPoint.cache(installation);
    if (Files.exists(cache)) {
      return;
    }
    System.err.println(
        "kastor: running the agent once, about half a minute, so that replicas start sooner");
    Path target = Objects.requireNonNull(cache.getParent());
    Path folder = Files.createTempDirectory(target, "rehearsal");
    try {
      AgentEntryPoint agent =
          new AgentEntryPoint(installation, folder.resolve("native"), folder.resolve("plugins"));
      Path made = folder.resolve("agent.aot");
      record(agent.withoutCache(), folder, made);
      if (!cache.equals(AgentEntryPoint.cache(installation))) {
        throw new IOException("the agent was built again meanwhile");
      }
      try (DirectoryStream<Path> old = Files.newDirectoryStream(target, "agent*.aot")) {
        for (Path file : old) {
          Files.delete(file);
        }
      }
      Files.move(made, cache, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      PrivateFiles.delete(folder);
    }
  }

  /**
   * Makes a cache.
   *
   * @param command what starts an agent, without its cache
   * @param folder for what the agents need; who made it deletes it
   * @param cache the file to make
   */
  public static void record(List<String> command, Path folder, Path cache)
      throws IOException, InterruptedException {
    TlsMaterial tls = TlsMaterial.create(folder.resolve("tls"));
    Map<String, String> all = settings(folder, tls.authority());
    List<String> recorded = new ArrayList<>(command);
    recorded.add(1, "-XX:AOTCacheOutput=" + cache);
    try (RehearsalOperator operator = new RehearsalOperator(tls.context())) {
      all.put("KASTOR_OPERATOR_URL", operator.url());
      all.put("KASTOR_PROTOCOL", "2");
      Process partner = start(command, all, RehearsalOperator.PARTNER, folder);
      Process agent = start(recorded, all, RehearsalOperator.RECORDED, folder);
      try {
        await(agent, cache, folder);
      } finally {
        partner.destroyForcibly().waitFor();
        agent.destroyForcibly().waitFor();
      }
    }
  }

  /** The classes that decide what a cache holds, for who keeps caches. */
  public static List<Class<?>> parts() {
    return List.of(AgentRehearsal.class, RehearsalOperator.class);
  }

  /** The cache is written when the agent ends. */
  private static void await(Process agent, Path cache, Path folder)
      throws IOException, InterruptedException {
    long began = System.nanoTime();
    boolean over;
    do {
      over = agent.waitFor(1, TimeUnit.SECONDS);
    } while (!over
        && System.nanoTime() - began < LONGEST.toNanos()
        && agent.info().totalCpuDuration().orElse(Duration.ZERO).compareTo(PATIENCE) < 0);
    if (!over || agent.exitValue() != 0 || !Files.exists(cache)) {
      throw new IOException(
          "the agent %s:%n%s%s"
              .formatted(
                  over ? "left no cache" : "did not end",
                  Files.readString(log(folder, RehearsalOperator.PARTNER)),
                  Files.readString(log(folder, RehearsalOperator.RECORDED))));
    }
  }

  private static Process start(
      List<String> command, Map<String, String> settings, String pod, Path folder)
      throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(log(folder, pod).toFile());
    builder.environment().keySet().removeAll(OPTIONS_OF_OTHERS);
    builder.environment().putAll(settings);
    builder.environment().put("KASTOR_EXIT_WITH_PARENT", "true");
    builder.environment().put("KASTOR_POD", pod);
    builder.environment().put("KASTOR_TERMINATION_LOG", folder.resolve(pod + ".end").toString());
    return builder.start();
  }

  private static Path log(Path folder, String pod) {
    return folder.resolve(pod + ".log");
  }

  private static Map<String, String> settings(Path folder, Path authority) throws IOException {
    Path token = Files.writeString(folder.resolve("token"), "none");
    Path secret = Files.writeString(folder.resolve("secret"), "0123456789abcdef0123456789abcdef");
    Path checkpoints = Files.createDirectory(folder.resolve("checkpoints"));
    return new HashMap<>(
        Map.of(
            "KASTOR_NAMESPACE",
            RehearsalOperator.JOB,
            "KASTOR_JOB",
            RehearsalOperator.JOB,
            "KASTOR_JOB_UID",
            RehearsalOperator.JOB,
            "KASTOR_POD_IP",
            "127.0.0.1",
            "KASTOR_TOKEN_FILE",
            token.toString(),
            "KASTOR_CA_FILE",
            authority.toString(),
            "KASTOR_RING_SECRET_FILE",
            secret.toString(),
            "KASTOR_CHECKPOINT_DIR",
            checkpoints.toString(),
            "KASTOR_JOB_SPEC",
            """
            {"program": {"name": "byte-lm"},
             "goodput": {"batchSize": {"initial": 16}, "learningRate": {"base": "0.002"},
                         "work": {"steps": 1000000}}}
            """));
  }
}
