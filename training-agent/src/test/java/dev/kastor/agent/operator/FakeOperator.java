package dev.kastor.agent.operator;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Member;
import dev.kastor.protocol.Membership;
import dev.kastor.protocol.Membership.Action;
import dev.kastor.protocol.ParameterServer;
import dev.kastor.protocol.ReplicaStart;
import dev.kastor.protocol.ReplicaState;
import dev.kastor.protocol.ReplicaState.Doing;
import dev.kastor.protocol.ReplicaState.Phase;
import dev.kastor.protocol.TelemetryReport;
import dev.kastor.scheduler.model.JobId;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.BinaryOperator;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * Does for one job what the operator does, steered by a test.
 *
 * <p>A new generation waits until all its pods are ready; survivors of a death get theirs at once.
 */
public final class FakeOperator implements AutoCloseable {
  private static final BatchPlan ANY = new BatchPlan(1, 0);

  private final JobId job;
  private final TestCertificate certificate;
  private final HttpsServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  private final Map<String, ReplicaState> states = new HashMap<>();
  private final Map<String, Integer> polls = new HashMap<>();
  private final Set<String> kept = new HashSet<>();
  private final Set<InetSocketAddress> connections = new HashSet<>();
  private final Set<String> onceMembers = new HashSet<>();
  private final List<TelemetryReport> reports = new ArrayList<>();
  private final Set<String> refused = new HashSet<>();
  private Membership current = new Membership(0, Action.WAIT, List.of(), ANY);
  private List<String> wanted = List.of();
  private BatchPlan wantedPlan = ANY;
  private UnaryOperator<String> nodes = pod -> "node-" + pod;
  private List<String> servers = List.of();
  private BinaryOperator<String> reached = (_, address) -> address;
  private Consumer<TelemetryReport> heard = _ -> {};
  private boolean pending;
  private String term = "1";
  private boolean away;
  private boolean closed;

  /** An operator on a free loopback port that wants nothing yet. */
  public FakeOperator(JobId job, TestCertificate certificate) throws IOException {
    this.job = job;
    this.certificate = certificate;
    server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setHttpsConfigurator(new HttpsConfigurator(certificate.server()));
    server.setExecutor(threads);
    String path = "/v1/jobs/" + job.namespace() + "/" + job.name() + "/";
    server.createContext(path + "membership", this::membership);
    server.createContext(path + "telemetry", this::telemetry);
    server.start();
  }

  /** Its base address. */
  public URI uri() {
    return URI.create("https://127.0.0.1:" + server.getAddress().getPort());
  }

  /** What its clients trust. */
  public TestCertificate certificate() {
    return certificate;
  }

  /** The bearer token by which it knows a pod. */
  public static String token(String pod) {
    return "token of " + pod;
  }

  /** From now on pods are on these nodes; each is on one of its own unless this is said. */
  public synchronized void place(UnaryOperator<String> nodeOfPod) {
    nodes = nodeOfPod;
  }

  /**
   * From now on others reach a pod elsewhere than it says.
   *
   * @param addressOf gives it, of a pod and its own address
   */
  public synchronized void reach(BinaryOperator<String> addressOf) {
    reached = addressOf;
  }

  /** From now on each report is shown to somebody before it is answered. */
  public synchronized void show(Consumer<TelemetryReport> reader) {
    heard = reader;
  }

  /** From now on these pods are the parameter servers, by index. */
  public synchronized void serve(List<String> pods) {
    servers = List.copyOf(pods);
    advance();
  }

  /**
   * Another pod, or the same one started again, is a parameter server in the place of one that
   * died; as soon as it is ready, the workers go on with it.
   */
  public synchronized void replaced(int index, String pod) {
    List<String> next = new ArrayList<>(servers);
    states.remove(next.set(index, pod));
    servers = List.copyOf(next);
    pending = true;
    advance();
  }

  /** Publishes a generation of these pods as soon as all are ready. */
  public synchronized void want(BatchPlan plan, List<String> pods) {
    wanted = List.copyOf(pods);
    wantedPlan = plan;
    pending = true;
    advance();
  }

  /** Learns that pods died; survivors of the current generation go on without them as they did. */
  public synchronized void died(List<String> pods) {
    died(pods, current.batchPlan());
  }

  /** Learns that pods died; survivors of the current generation go on without them with a plan. */
  public synchronized void died(List<String> pods, BatchPlan plan) {
    states.keySet().removeAll(pods);
    List<String> members = new ArrayList<>(current.members().stream().map(Member::pod).toList());
    boolean lost = members.removeAll(pods);
    List<String> stillWanted = new ArrayList<>(wanted);
    stillWanted.removeAll(pods);
    wanted = stillWanted;
    if (lost && current.action() == Action.RUN) {
      if (members.isEmpty()) {
        current = new Membership(current.generation() + 1, Action.WAIT, List.of(), ANY);
      } else {
        publish(members, plan);
      }
    }
    advance();
  }

  /** Asks all for a checkpoint and to end. */
  public synchronized void stop() {
    pending = false;
    current = new Membership(current.generation() + 1, Action.STOP, List.of(), ANY);
    notifyAll();
  }

  /** While away, every request fails without an answer. */
  public synchronized void away(boolean now) {
    away = now;
    notifyAll();
  }

  /** From now on it is another operator, which heard nothing before. */
  public synchronized void succeededBy(String newTerm) {
    term = newTerm;
    reports.clear();
  }

  /** The newest generation. */
  public synchronized Membership current() {
    return current;
  }

  /** Whether all members of the newest generation train in it. */
  public synchronized boolean settled() {
    return !pending
        && current.action() == Action.RUN
        && current.members().stream()
            .map(member -> states.get(member.pod()))
            .allMatch(state ->
                state != null
                    && state.generation() == current.generation()
                    && state.phase() == Phase.TRAINING);
  }

  /** Whether a pod has polled. */
  public synchronized boolean heardOf(String pod) {
    return states.containsKey(pod);
  }

  /** What a pod last said that it runs. */
  public synchronized String client(String pod) {
    ReplicaState said = states.get(pod);
    return said == null ? "" : said.client();
  }

  /** How a pod says that its start ended; empty before its first step. */
  public synchronized Optional<ReplicaStart> start(String pod) {
    return Optional.ofNullable(states.get(pod)).map(ReplicaState::start);
  }

  /** Whether a pod last said that it waits for others. */
  public synchronized boolean waits(String pod) {
    ReplicaState said = states.get(pod);
    return said != null && said.waiting();
  }

  /** How often a pod has polled. */
  public synchronized int polls(String pod) {
    return polls.getOrDefault(pod, 0);
  }

  /** Whether a pod polled last in this phase and waits for the answer. */
  public synchronized boolean keeps(String pod, Phase phase) {
    ReplicaState said = states.get(pod);
    return said != null && said.phase() == phase && kept.contains(pod);
  }

  /** How many connections its clients have opened to poll. */
  public synchronized int connections() {
    return connections.size();
  }

  /** All reports so far. */
  public synchronized List<TelemetryReport> reports() {
    return List.copyOf(reports);
  }

  /** Bearer tokens it did not accept. */
  public synchronized Set<String> refused() {
    return Set.copyOf(refused);
  }

  /** Waits until something holds; looked at whenever a request comes in. */
  public synchronized void await(String what, BooleanSupplier holds) throws InterruptedException {
    long end = System.nanoTime() + Duration.ofMinutes(4).toNanos();
    while (!holds.getAsBoolean()) {
      if (System.nanoTime() - end > 0) {
        throw new AssertionError(
            "not within four minutes: " + what + "; " + current + " " + states);
      }
      wait(50);
    }
  }

  private void advance() {
    if (pending
        && !wanted.isEmpty()
        && wanted.stream().allMatch(this::isReady)
        && servers.stream().allMatch(this::isReady)) {
      List<String> members = new ArrayList<>(current.members().stream().map(Member::pod).toList());
      members.retainAll(wanted);
      wanted.stream().filter(pod -> !members.contains(pod)).forEach(members::add);
      pending = false;
      publish(members, wantedPlan);
    }
    notifyAll();
  }

  private boolean isReady(String pod) {
    ReplicaState state = states.get(pod);
    return state != null && state.phase() != Phase.STARTING;
  }

  private void publish(List<String> pods, BatchPlan plan) {
    List<Member> members = new ArrayList<>();
    for (String pod : pods) {
      ReplicaState state = states.get(pod);
      if (state != null) {
        String address = reached.apply(pod, state.address());
        members.add(new Member(pod, members.size(), address, nodes.apply(pod)));
      }
    }
    onceMembers.addAll(pods);
    onceMembers.addAll(servers);
    List<ParameterServer> reachable = new ArrayList<>();
    for (int index = 0; index < servers.size(); index++) {
      ReplicaState state = states.get(servers.get(index));
      if (state != null) {
        reachable.add(
            new ParameterServer(
                index,
                state.pod(),
                nodes.apply(state.pod()),
                reached.apply(state.pod(), state.address())));
      }
    }
    current = new Membership(current.generation() + 1, Action.RUN, members, plan, reachable);
    notifyAll();
  }

  private Membership answer(String pod) {
    boolean listed =
        (servers.contains(pod) && current.action() == Action.RUN)
            || current.members().stream().anyMatch(member -> member.pod().equals(pod));
    boolean once = onceMembers.contains(pod);
    if (listed || (current.action() == Action.STOP && once)) {
      return current;
    }
    Action action = current.action() == Action.RUN && once ? Action.LEAVE : Action.WAIT;
    return new Membership(current.generation(), action, List.of(), ANY);
  }

  private void membership(HttpExchange exchange) throws IOException {
    try (exchange) {
      Map<String, String> query = query(exchange);
      String pod = query.getOrDefault("pod", "");
      if (!authorized(exchange, pod)) {
        return;
      }
      ReplicaState state =
          new ReplicaState(
              pod,
              query.getOrDefault("address", ""),
              Long.parseLong(query.getOrDefault("generation", "")),
              Phase.valueOf(query.getOrDefault("phase", "")),
              Long.parseLong(query.getOrDefault("step", "")),
              Boolean.parseBoolean(query.getOrDefault("waiting", "")),
              Doing.valueOf(query.getOrDefault("doing", "")),
              query.getOrDefault("client", ""),
              0,
              query.containsKey("start") ? ReplicaStart.parse(query.get("start")) : null);
      long end =
          System.nanoTime()
              + Duration.ofSeconds(Long.parseLong(query.getOrDefault("wait", "0"))).toNanos();
      Membership answer;
      synchronized (this) {
        if (away) {
          return;
        }
        states.put(pod, state);
        connections.add(exchange.getRemoteAddress());
        int poll = polls.merge(pod, 1, Integer::sum);
        kept.remove(pod);
        advance();
        answer = answer(pod);
        // A newer poll of the same replica ends this one.
        while (!closed
            && !away
            && answer.generation() <= state.generation()
            && polls(pod) == poll) {
          long leftMillis = (end - System.nanoTime()) / 1_000_000;
          if (leftMillis <= 0) {
            break;
          }
          if (kept.add(pod)) {
            notifyAll();
          }
          try {
            wait(leftMillis);
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return;
          }
          answer = answer(pod);
        }
        if (polls(pod) == poll) {
          kept.remove(pod);
        }
        if (away) {
          return;
        }
      }
      send(exchange, 200, WireJson.write(answer));
    }
  }

  private void telemetry(HttpExchange exchange) throws IOException {
    try (exchange) {
      byte[] body = exchange.getRequestBody().readAllBytes();
      synchronized (this) {
        if (away) {
          return;
        }
      }
      TelemetryReport report = WireJson.read(body, TelemetryReport.class);
      if (!authorized(exchange, report.pod())) {
        return;
      }
      boolean fits = body.length <= TelemetryReport.MAX_BYTES && report.job().equals(job.name());
      String answeredAs;
      Consumer<TelemetryReport> reader;
      synchronized (this) {
        reader = heard;
      }
      reader.accept(report);
      synchronized (this) {
        answeredAs = term;
        if (fits) {
          reports.add(report);
        }
        notifyAll();
      }
      if (fits) {
        exchange.getResponseHeaders().add("Kastor-Term", answeredAs);
        exchange.sendResponseHeaders(204, -1);
      } else {
        send(exchange, 400, "{\"error\":\"job\"}".getBytes(StandardCharsets.UTF_8));
      }
    }
  }

  private boolean authorized(HttpExchange exchange, String pod) throws IOException {
    String header = String.valueOf(exchange.getRequestHeaders().getFirst("Authorization"));
    if (header.equals("Bearer " + token(pod))) {
      return true;
    }
    synchronized (this) {
      refused.add(header);
      notifyAll();
    }
    send(exchange, 401, "{\"error\":\"token\"}".getBytes(StandardCharsets.UTF_8));
    return false;
  }

  private static void send(HttpExchange exchange, int status, byte[] body) throws IOException {
    exchange.sendResponseHeaders(status, body.length);
    exchange.getResponseBody().write(body);
  }

  private static Map<String, String> query(HttpExchange exchange) {
    Map<String, String> query = new HashMap<>();
    for (String part : exchange.getRequestURI().getRawQuery().split("&", -1)) {
      int equals = part.indexOf('=');
      query.put(
          part.substring(0, equals),
          URLDecoder.decode(part.substring(equals + 1), StandardCharsets.UTF_8));
    }
    return query;
  }

  @Override
  public void close() {
    synchronized (this) {
      closed = true;
      notifyAll();
    }
    server.stop(0);
    threads.shutdownNow();
  }
}
