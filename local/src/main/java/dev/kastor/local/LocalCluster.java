package dev.kastor.local;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.local.api.ApiServer;
import dev.kastor.local.api.ResourceType;
import dev.kastor.local.api.ResourceTypes;
import dev.kastor.local.kubelet.Kubelet;
import dev.kastor.local.kubelet.Leftovers;
import dev.kastor.local.kubelet.LocalNode;
import dev.kastor.local.kubelet.PrivateFiles;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;

/** A running local cluster: API server, kubelet and operator, which end together with it. */
public final class LocalCluster implements AutoCloseable {
  private static final Duration LIVENESS_PERIOD = Duration.ofSeconds(10);
  private static final Duration READY_POLL = Duration.ofMillis(200);

  private final ApiServer api;
  private final URI webPage;
  private final SupervisedProcess operator;
  private final StartLog startLog;
  private final Deque<AutoCloseable> parts;

  private LocalCluster(
      ApiServer api,
      URI webPage,
      SupervisedProcess operator,
      StartLog startLog,
      Deque<AutoCloseable> parts) {
    this.api = api;
    this.webPage = webPage;
    this.operator = operator;
    this.startLog = startLog;
    this.parts = parts;
  }

  /** Starts all parts; the operator may still need seconds until {@link #awaitReady}. */
  public static LocalCluster start(
      Installation installation, StateFolder state, LocalOptions options)
      throws IOException, LocalException {
    OpenFiles.check();
    Path operatorJar = installation.operatorJar();
    AgentEntryPoint agent =
        new AgentEntryPoint(
            installation, PrivateFiles.directory(state.nativeLibraries()), options.plugins());
    Deque<AutoCloseable> parts = new ArrayDeque<>();
    boolean whole = false;
    try {
      TlsMaterial tls = TlsMaterial.create(state.tls());
      ApiServer api =
          ApiServer.start(
              0, (namespace, pod) -> Kubelet.log(state.logs(), namespace, pod), tls.context());
      parts.push(api);
      parts.push(TlsRenewal.start(tls));
      for (String resource : Installation.crdResources()) {
        try (InputStream crd = LocalCluster.class.getClassLoader().getResourceAsStream(resource)) {
          if (crd == null) {
            throw new LocalException("this build lacks " + resource + ". Run ./kastor build.");
          }
          api.define(crd);
        }
      }
      api.persist(state.journal(), LocalCluster::outlivesTheServer);
      int webPort = FreePort.near(options.webPort());
      URI webPage = URI.create("http://127.0.0.1:" + webPort + "/");
      PrivateFiles.write(
          state.kubeconfig(),
          Kubeconfig.of(
                  api.uri(), Files.readAllBytes(tls.authority()), api.tokens().admin(), webPage)
              .getBytes(StandardCharsets.UTF_8));
      Kubelet kubelet =
          Kubelet.start(
              api,
              List.of(node(options, MachineGpus.found())),
              state.pods(),
              state.logs(),
              agent,
              options.variables(),
              options.spares());
      parts.push(kubelet);
      api.readiness().add("kubelet", kubelet::failure);
      api.readiness().add("disk", state::shortOfRoom);
      int agentPort = FreePort.near(0);
      PrivateFiles.delete(state.operatorCache());
      StartLog startLog = StartLog.of(state.operatorLog());
      SupervisedProcess operator =
          SupervisedProcess.start(
              "operator",
              operatorCommand(
                  installation, operatorJar, PrivateFiles.directory(state.operatorCache())),
              operatorEnvironment(installation, state, options, tls, webPort, agentPort),
              state.root(),
              state.operatorLog(),
              Liveness.of(webPage.resolve("/q/health/live"), LIVENESS_PERIOD),
              System::nanoTime);
      parts.push(operator);
      whole = true;
      return new LocalCluster(api, webPage, operator, startLog, parts);
    } finally {
      // Whatever failed, memory included: threads that live on would keep this process alive.
      if (!whole) {
        closeAll(parts);
      }
    }
  }

  /** This machine. Slots are its GPUs, unless there are more of them: then nobody has its own. */
  private static LocalNode node(LocalOptions options, List<String> gpus) {
    int slots = options.slots();
    return new LocalNode(
        LocalOptions.NODE,
        slots,
        Math.min(slots, options.devices()),
        gpus.isEmpty() ? "cpu" : "gpu",
        slots > gpus.size() ? List.of() : gpus);
  }

  /** Jobs with what belongs to them; pods come back as failed ones, and are replaced. */
  private static boolean outlivesTheServer(ResourceType type) {
    return type.group().equals(TrainingJob.GROUP)
        || type.equals(ResourceTypes.POD)
        || type.equals(ResourceTypes.SECRET)
        || type.equals(ResourceTypes.EVENT);
  }

  private static List<String> operatorCommand(Installation installation, Path jar, Path cache) {
    List<String> command = new ArrayList<>();
    command.add(Installation.java());
    command.addAll(installation.nativeOptions());
    command.addAll(
        List.of(
            "-Xmx192m",
            "-Xss512k",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-XX:+ExitOnOutOfMemoryError",
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-Dvertx.cacheDirBase=" + cache,
            "-jar",
            jar.toString()));
    return command;
  }

  private static Map<String, String> operatorEnvironment(
      Installation installation,
      StateFolder state,
      LocalOptions options,
      TlsMaterial tls,
      int webPort,
      int agentPort)
      throws IOException {
    return Map.ofEntries(
        Map.entry("KUBECONFIG", state.kubeconfig().toString()),
        Map.entry("QUARKUS_HTTP_HOST", "127.0.0.1"),
        Map.entry("QUARKUS_HTTP_PORT", Integer.toString(webPort)),
        Map.entry("QUARKUS_HTTP_SSL_PORT", Integer.toString(agentPort)),
        Map.entry("KASTOR_TLS_CERTIFICATE", tls.certificate().toString()),
        Map.entry("KASTOR_TLS_KEY", tls.key().toString()),
        Map.entry("KASTOR_CA_FILE", tls.authority().toString()),
        Map.entry("KASTOR_AGENT_OPERATOR_URL", "https://127.0.0.1:" + agentPort),
        Map.entry(
            "KASTOR_AGENT_CHECKPOINT_HOST_PATH",
            PrivateFiles.directory(state.checkpoints()).toString()),
        Map.entry("KASTOR_POLICY", options.policy()),
        Map.entry("KASTOR_PLUGINS", options.plugins().toString()),
        Map.entry("KASTOR_ROUND_INTERVAL", options.roundInterval().toMillis() + "ms"),
        // The operator exports models of this folder's jobs by the command.
        Map.entry("KASTOR_WEB_EXPORT", installation.launcher().toString()),
        Map.entry("KASTOR_HOME", state.root().toString()),
        Map.entry("KASTOR_SLOT_RESOURCE", LocalNode.SLOT),
        Map.entry(Leftovers.FOLDER, state.pods().resolve("operator").toString()),
        Map.entry("KASTOR_EXIT_WITH_PARENT", "true"));
  }

  /**
   * Waits until the operator says that it is ready, for as long as it works.
   *
   * @param say takes lines that say what is waited for, where it takes long
   * @throws LocalException if the operator ends again and again, or does nothing for minutes
   */
  public void awaitReady(Consumer<String> say)
      throws IOException, InterruptedException, LocalException {
    URI health = webPage.resolve("/q/health/ready");
    HttpRequest request =
        HttpRequest.newBuilder(health).timeout(Duration.ofSeconds(5)).GET().build();
    StartWait wait = new StartWait(System.nanoTime(), say);
    try (HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      while (!ready(http, request)) {
        Optional<String> givenUp =
            wait.look(operator.ends(), operator.activity(), startLog, System.nanoTime());
        if (givenUp.isPresent()) {
          throw new LocalException(
              "%s. Its log %s ends with:%n%s"
                  .formatted(givenUp.get(), startLog.file(), startLog.end()));
        }
        Thread.sleep(READY_POLL);
      }
    }
  }

  private static boolean ready(HttpClient http, HttpRequest request) throws InterruptedException {
    try {
      return http.send(request, HttpResponse.BodyHandlers.discarding()).statusCode() == 200;
    } catch (IOException e) {
      return false;
    }
  }

  /** The embedded API server. */
  public ApiServer api() {
    return api;
  }

  /** Where the web page is. */
  public URI webPage() {
    return webPage;
  }

  /** The operator's process at this moment. */
  public OptionalLong operatorPid() {
    return operator.pid();
  }

  /** Ends the operator, the pods and the server. */
  @Override
  public void close() {
    closeAll(parts);
  }

  /** One that does not end keeps no other from ending. */
  private static void closeAll(Deque<AutoCloseable> parts) {
    IllegalStateException failure = null;
    while (!parts.isEmpty()) {
      try {
        parts.pop().close();
      } catch (Exception e) {
        if (failure == null) {
          failure = new IllegalStateException("a part of the local cluster did not end", e);
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}
