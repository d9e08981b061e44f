package dev.kastor.agent;

import dev.kastor.agent.operator.FakeOperator;
import dev.kastor.agent.operator.WireJson;
import dev.kastor.agent.ring.RingKey;
import dev.kastor.protocol.Membership;
import dev.kastor.protocol.Outcome;
import dev.kastor.scheduler.model.JobId;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The agent as a pod runs it: a process of its own. */
final class AgentProcess {
  static final JobId JOB = new JobId("team", "job");

  /** For processes that hang. */
  private static final Duration LIMIT = Duration.ofMinutes(10);

  private final String pod;
  private final Path folder;
  private final Process process;

  private AgentProcess(String pod, Path folder, Process process) {
    this.pod = pod;
    this.folder = folder;
    this.process = process;
  }

  static AgentProcess start(
      String pod, FakeOperator operator, String spec, Path folder, String... flags)
      throws IOException {
    return start(pod, folder, environment(pod, operator, spec, folder), flags);
  }

  /** A parameter server. */
  static AgentProcess startServer(
      String pod, FakeOperator operator, String spec, Path folder, int index) throws IOException {
    return start(pod, folder, serverEnvironment(pod, operator, spec, folder, index));
  }

  /** The environment of a parameter server. */
  static Map<String, String> serverEnvironment(
      String pod, FakeOperator operator, String spec, Path folder, int index) throws IOException {
    Map<String, String> environment = new HashMap<>(environment(pod, operator, spec, folder));
    environment.put("KASTOR_ROLE", "server");
    environment.put("KASTOR_SERVER_INDEX", Integer.toString(index));
    return environment;
  }

  /** The environment that the operator gives a replica. */
  static Map<String, String> environment(
      String pod, FakeOperator operator, String spec, Path folder) throws IOException {
    Path token = Files.writeString(folder.resolve(pod + ".token"), FakeOperator.token(pod));
    Path secret = Files.write(folder.resolve("secret"), new byte[RingKey.MIN_BYTES]);
    return Map.ofEntries(
        Map.entry("KASTOR_NAMESPACE", JOB.namespace()),
        Map.entry("KASTOR_JOB", JOB.name()),
        Map.entry("KASTOR_JOB_UID", "uid"),
        Map.entry("KASTOR_POD", pod),
        Map.entry("KASTOR_POD_IP", "127.0.0.1"),
        Map.entry("KASTOR_OPERATOR_URL", operator.uri().toString()),
        Map.entry("KASTOR_PROTOCOL", Integer.toString(Membership.PROTOCOL)),
        Map.entry("KASTOR_TOKEN_FILE", token.toString()),
        Map.entry("KASTOR_CA_FILE", operator.certificate().caFile().toString()),
        Map.entry("KASTOR_RING_SECRET_FILE", secret.toString()),
        Map.entry("KASTOR_CHECKPOINT_DIR", folder.resolve("checkpoints").toString()),
        Map.entry("KASTOR_JOB_SPEC", spec),
        Map.entry("KASTOR_TERMINATION_LOG", terminationLog(folder, pod).toString()),
        // Whoever is asked to end waits for the others, and all share the processors of this
        // machine.
        Map.entry("KASTOR_TERMINATION_GRACE_SECONDS", "600"),
        Map.entry("KASTOR_EXIT_WITH_PARENT", "true"));
  }

  static AgentProcess start(
      String pod, Path folder, Map<String, String> environment, String... flags)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of(flags));
    command.addAll(
        List.of(
            "-Xmx192m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Xshare:auto",
            "--enable-native-access=ALL-UNNAMED",
            "--add-modules",
            "jdk.incubator.vector",
            "-cp",
            System.getProperty("java.class.path"),
            Agent.class.getName()));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().keySet().removeIf(name -> name.startsWith("KASTOR_"));
    builder.environment().putAll(environment);
    builder.redirectErrorStream(true);
    builder.redirectOutput(folder.resolve(pod + ".log").toFile());
    return new AgentProcess(pod, folder, builder.start());
  }

  /** A spare agent, which waits for what it is to run. */
  static AgentProcess startSpare(String name, Path folder) throws IOException {
    return start(name, folder, Map.of("KASTOR_SPARE", "true", "KASTOR_EXIT_WITH_PARENT", "true"));
  }

  /** Gives a spare agent the environment of a pod. */
  void become(Map<String, String> environment) throws IOException {
    OutputStream pipe = process.getOutputStream();
    pipe.write(WireJson.write(Map.of("environment", environment)));
    pipe.write('\n');
    pipe.flush();
  }

  private static Path terminationLog(Path folder, String pod) {
    return folder.resolve(pod + ".termination");
  }

  String pod() {
    return pod;
  }

  /** What it printed. */
  String log() throws IOException {
    return Files.readString(folder.resolve(pod + ".log"));
  }

  /** kill -9; waits until it is gone. */
  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  /** SIGTERM, as a kubelet sends it. */
  void terminate() {
    process.destroy();
  }

  /** Ends the pipe that says that its parent lives. */
  void abandon() throws IOException {
    try (OutputStream pipe = process.getOutputStream()) {
      pipe.flush();
    }
  }

  /** Waits for its end. */
  int exitCode() throws InterruptedException, IOException {
    if (!process.waitFor(LIMIT)) {
      throw new AssertionError(pod + " still runs after " + LIMIT + ": " + log());
    }
    return process.exitValue();
  }

  /** Its termination message. */
  Outcome outcome() throws IOException, InterruptedException {
    exitCode();
    return WireJson.read(Files.readAllBytes(terminationLog(folder, pod)), Outcome.class);
  }
}
