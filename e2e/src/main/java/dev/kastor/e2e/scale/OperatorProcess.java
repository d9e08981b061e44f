package dev.kastor.e2e.scale;

import dev.kastor.e2e.cluster.Chart;
import dev.kastor.e2e.image.Images;
import dev.kastor.e2e.suite.Await;
import io.fabric8.kubernetes.client.Config;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The operator beside the cluster, as a process that can be measured and killed. */
final class OperatorProcess implements AutoCloseable {
  /** Where agents find it. */
  static final String URL = "https://localhost:8443";

  private static final Path STATE = Path.of(System.getenv().getOrDefault("KASTOR_E2E_STATE", "."));
  private static final Path LOGS = Path.of(System.getenv().getOrDefault("KASTOR_E2E_LOGS", "."));
  private static final double TICKS_PER_SECOND = 100;

  private static final int MOST_SAID = 2000;

  /** Number, instances, bytes, class. */
  private static final Pattern HISTOGRAM_ROW = Pattern.compile(" *\\d+: +\\d+ +(\\d+) +(\\S+).*");

  private static final String SLOW = "kastor_node_slowdown{node=\"";

  private final Map<String, String> environment;
  private final int heapMebibytes;
  private @Nullable Process process;
  private int starts;

  /**
   * An operator that is not started yet.
   *
   * @param server where it finds the API server; the real one or something in between
   * @param settings that differ from the chart's
   */
  OperatorProcess(
      Installed chart, Config admin, String server, int heapMebibytes, Map<String, String> settings)
      throws IOException {
    this.heapMebibytes = heapMebibytes;
    environment = chart.environment();
    environment.put("KUBECONFIG", kubeconfig(admin, server, chart.token()).toString());
    environment.put("QUARKUS_HTTP_HOST", "127.0.0.1");
    environment.put("KASTOR_TLS_CERTIFICATE", STATE.resolve("pki/operator.crt").toString());
    environment.put("KASTOR_TLS_KEY", STATE.resolve("pki/operator.key").toString());
    environment.put("KASTOR_CA_FILE", authority().toString());
    environment.put("KASTOR_AGENT_OPERATOR_URL", URL);
    environment.putAll(settings);
  }

  /** The certificate of who signed the operator's. */
  static Path authority() {
    return STATE.resolve("pki/ca.crt");
  }

  /** Starts it; it is ready later. */
  void start() throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin/java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-Xmx%dm".formatted(heapMebibytes),
                "-Xlog:gc,safepoint:file=%s:utctime"
                    .formatted(LOGS.resolve("operator-%d-gc.log".formatted(starts)))));
    command.addAll(Images.OPERATOR_JVM);
    if (System.getProperty("kastor.scale.recording") != null) {
      command.add(
          "-XX:StartFlightRecording:settings=profile,dumponexit=true,filename="
              + LOGS.resolve("operator.jfr"));
    }
    command.addAll(
        List.of(
            "-jar",
            Chart.root().resolve("operator/target/quarkus-app/quarkus-run.jar").toString()));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().putAll(environment);
    builder.redirectErrorStream(true);
    builder.redirectOutput(LOGS.resolve("operator-%d.log".formatted(starts++)).toFile());
    process = builder.start();
  }

  /** Returns once it serves. */
  void awaitReady() throws Exception {
    Await.until(
        "the operator is ready",
        Duration.ofMinutes(3),
        () -> alive() ? "it still starts" : "it has ended; see " + LOGS,
        OperatorProcess::ready);
  }

  boolean alive() {
    return process != null && process.isAlive();
  }

  /** Ends it without a word, as a node that loses power does. */
  void kill() throws InterruptedException {
    if (process != null) {
      process.destroyForcibly().waitFor();
    }
  }

  @Override
  public void close() {
    Process running = process;
    if (running != null) {
      running.destroy();
      running
          .onExit()
          .orTimeout(20, java.util.concurrent.TimeUnit.SECONDS)
          .handle((p, e) -> running.destroyForcibly())
          .join();
    }
  }

  /** Memory that is resident, in MiB. */
  long residentMebibytes() throws IOException {
    return statusKibibytes("VmRSS:") / 1024;
  }

  /** The same while somebody else may end it at any time; empty if it has ended. */
  OptionalDouble residentIfAlive() {
    try {
      return OptionalDouble.of((double) residentMebibytes());
    } catch (IOException e) {
      return OptionalDouble.empty();
    }
  }

  /** The most that ever was. */
  long peakResidentMebibytes() throws IOException {
    return statusKibibytes("VmHWM:") / 1024;
  }

  /** Heap in MiB that is left after a full collection, which this asks for. */
  double liveMebibytes() throws IOException, InterruptedException {
    Process asked =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin/jcmd").toString(),
                Long.toString(started().pid()),
                "GC.class_histogram")
            .redirectErrorStream(true)
            .start();
    long bytes = 0;
    StringBuilder said = new StringBuilder();
    try (BufferedReader lines = asked.inputReader(StandardCharsets.UTF_8)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        Matcher row = HISTOGRAM_ROW.matcher(line);
        // The collector leaves some garbage where moving what is behind it would cost too much.
        if (row.matches() && !row.group(2).contains("FillerElement")) {
          bytes += Long.parseLong(row.group(1));
        } else if (said.length() < MOST_SAID) {
          said.append(line).append('\n');
        }
      }
    }
    if (asked.waitFor() != 0 || bytes == 0) {
      throw new IOException("the operator's heap could not be looked at: " + said);
    }
    return bytes / (double) (1 << 20);
  }

  /** Seconds of processor that it has used. */
  double cpuSeconds() throws IOException {
    String stat = Files.readString(proc("stat"));
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
    return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) / TICKS_PER_SECOND;
  }

  /** A number that it counts for Prometheus, without labels. */
  double counted(String metric) throws IOException {
    return metrics(metric + " ")
        .mapToDouble(line -> Double.parseDouble(line.substring(metric.length())))
        .findFirst()
        .orElseThrow(() -> new IOException("the operator does not count " + metric));
  }

  /** The requests and connections of agents that it refused, by reason. */
  List<String> refused() throws IOException {
    return metrics("kastor_telemetry_refused_total")
        .filter(line -> !line.endsWith(" 0.0"))
        .toList();
  }

  /** The nodes that it calls slow, and how many times longer steps take there. */
  Map<String, Double> slowNodes() throws IOException {
    Map<String, Double> slow = new TreeMap<>();
    metrics(SLOW)
        .forEach(line -> {
          int end = line.indexOf('"', SLOW.length());
          slow.put(
              line.substring(SLOW.length(), end),
              Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)));
        });
    return slow;
  }

  private static Stream<String> metrics(String start) throws IOException {
    try (InputStream body = URI.create("http://127.0.0.1:8080/metrics").toURL().openStream()) {
      return new String(body.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .filter(line -> line.startsWith(start));
    }
  }

  private long statusKibibytes(String name) throws IOException {
    for (String line : Files.readAllLines(proc("status"))) {
      if (line.startsWith(name)) {
        return Long.parseLong(line.replaceAll("[^0-9]", ""));
      }
    }
    throw new IOException("the operator has ended");
  }

  private Path proc(String file) {
    return Path.of("/proc", Long.toString(started().pid()), file);
  }

  private Process started() {
    if (process == null) {
      throw new IllegalStateException("the operator was not started");
    }
    return process;
  }

  private static boolean ready() {
    try {
      var connection =
          (HttpURLConnection)
              URI.create("http://127.0.0.1:8080/q/health/ready").toURL().openConnection();
      return connection.getResponseCode() == HttpURLConnection.HTTP_OK;
    } catch (IOException e) {
      return false;
    }
  }

  private static Path kubeconfig(Config admin, String server, String token) throws IOException {
    Path file = STATE.resolve("operator.kubeconfig");
    Files.writeString(
        file,
        """
        apiVersion: v1
        kind: Config
        current-context: e2e
        clusters: [{name: e2e, cluster: {server: "%s", certificate-authority-data: %s}}]
        contexts: [{name: e2e, context: {cluster: e2e, user: operator, namespace: %s}}]
        users: [{name: operator, user: {token: %s}}]
        """
            .formatted(server, admin.getCaCertData(), Installed.NAMESPACE, token));
    return file;
  }
}
