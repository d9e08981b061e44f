package dev.kastor.engine.partition.tcp;

import dev.kastor.engine.autodiff.Gradients;
import dev.kastor.engine.backend.registry.Backends;
import dev.kastor.engine.exec.ControlCases;
import dev.kastor.engine.exec.Results;
import dev.kastor.engine.exec.Session;
import dev.kastor.engine.exec.Value;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.partition.PartitionedSession;
import dev.kastor.engine.placement.Device;
import dev.kastor.engine.placement.Placer;
import dev.kastor.engine.placement.RandomCosts;
import dev.kastor.engine.resource.TensorQueue;
import dev.kastor.testkit.TestKeys;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** One of two processes that run the same graphs, as a program: it does what it reads, by line. */
final class PartProcess implements AutoCloseable {
  static final long CAP = 1 << 24;
  private static final List<Device> DEVICES =
      List.of(new Device("a", "cpu:0"), new Device("b", "cpu:0"), new Device("b", "cpu:1"));

  private final String name;
  private final Arena arena = Arena.ofShared();
  private final Map<Device, Session> sessions = new HashMap<>();
  private final Map<String, Integer> ports = new HashMap<>();
  private final TcpRendezvous rendezvous;

  PartProcess(String name, Path keys) throws IOException, GeneralSecurityException {
    this.name = name;
    Map<String, dev.kastor.engine.exec.Memory> memories = new HashMap<>();
    for (Device device : DEVICES) {
      if (device.process().equals(name)) {
        Session session = new Session(Backends.fastest(1).backend(), CAP, 1);
        sessions.put(device, session);
        memories.put(device.name(), session.memory());
      }
    }
    rendezvous =
        new TcpRendezvous(
            name,
            TestKeys.context(keys),
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            memories,
            other -> new InetSocketAddress(InetAddress.getLoopbackAddress(), port(other)));
  }

  private int port(String other) {
    return ports.getOrDefault(other, 0);
  }

  int port() {
    return rendezvous.port();
  }

  void knows(String other, int port) {
    ports.put(other, port);
  }

  /** All results of all cases that are on devices of this process, by case and number. */
  Map<String, String> run(long seed) throws InterruptedException {
    ControlCases cases = new ControlCases();
    Map<String, String> results = new TreeMap<>();
    for (var graph : cases.all().entrySet()) {
      List<Node> fetches = fetches(cases, graph.getValue());
      try (PartitionedSession session = session(graph.getKey() + seed, seed);
          Results values = session.run(cases.feeds(arena), fetches)) {
        for (int i = 0; i < fetches.size(); i++) {
          Optional<Value> value = values.held(i);
          if (value.isPresent()) {
            String bits = Arrays.toString(value.get().tensor().floats());
            results.put(graph.getKey() + " " + i, bits);
            value.get().release();
          }
        }
      }
    }
    return results;
  }

  /** Waits here for what never comes from the other process. */
  void waitForever() throws InterruptedException {
    TensorQueue queue = new TensorQueue("q", List.of(Type.f32(1)), 1);
    Node never = queue.dequeue().at("b/cpu:0").part(0);
    Node here = never.add(1).at("a");
    try (PartitionedSession session = session("wait", 1)) {
      session.run(Map.of(), List.of(here)).close();
    }
  }

  private PartitionedSession session(String what, long seed) {
    Placer placer = new Placer(DEVICES, new RandomCosts(seed));
    return new PartitionedSession(what, sessions, placer, rendezvous);
  }

  static List<Node> fetches(ControlCases cases, Node result) {
    Node loss = result.multiply(result).reshape(result.shape().elements()).sum(0, 1);
    List<Node> fetches = new ArrayList<>(List.of(result, loss));
    fetches.addAll(Gradients.of(loss, cases.leaves()));
    return fetches;
  }

  @Override
  public void close() throws IOException {
    rendezvous.close();
    sessions.values().forEach(Session::close);
    arena.close();
  }

  /**
   * Says its port, then does what it reads: {@code knows NAME PORT}, {@code run SEED}, {@code
   * wait}.
   */
  public static void main(String[] args) throws Exception {
    try (PartProcess process = new PartProcess(args[0], Path.of(args[1]));
        BufferedReader in =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      System.out.println(process.port());
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        String[] words = line.split(" ", -1);
        switch (words[0]) {
          case "knows" -> process.knows(words[1], Integer.parseInt(words[2]));
          case "run" -> {
            process
                .run(Long.parseLong(words[1]))
                .forEach((key, value) -> System.out.println(key + "=" + value));
            System.out.println("done");
          }
          default -> process.waitForever();
        }
      }
    }
  }

  @Override
  public String toString() {
    return name;
  }
}
