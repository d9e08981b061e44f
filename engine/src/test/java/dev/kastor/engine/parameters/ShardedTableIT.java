package dev.kastor.engine.parameters;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.engine.autodiff.Gradients;
import dev.kastor.engine.backend.registry.Backends;
import dev.kastor.engine.exec.Memory;
import dev.kastor.engine.exec.Results;
import dev.kastor.engine.exec.Session;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.partition.PartitionedSession;
import dev.kastor.engine.partition.tcp.TcpRendezvous;
import dev.kastor.engine.placement.Device;
import dev.kastor.engine.placement.Placer;
import dev.kastor.engine.placement.RoughCosts;
import dev.kastor.engine.tensor.DType;
import dev.kastor.engine.tensor.Shape;
import dev.kastor.engine.tensor.Tensor;
import dev.kastor.testkit.TestKeys;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A table on two servers and a worker, with real sockets between them. */
@Timeout(120)
class ShardedTableIT {
  private static final int ROWS = 20_000;
  private static final int WIDTH = 32;
  private static final List<String> NAMES = List.of("worker", "even", "odd");

  @TempDir private Path folder;
  private final Arena arena = Arena.ofShared();
  private final Map<String, TcpRendezvous> rendezvous = new HashMap<>();
  private final Map<String, Session> sessions = new HashMap<>();
  private final Map<String, PartitionedSession> parts = new HashMap<>();
  private final ShardedTable table =
      new ShardedTable(
          "table", ROWS, WIDTH, List.of("even", "odd"), (row, column) -> row + column / 100f);

  @BeforeEach
  void start() throws Exception {
    Path keys = folder.resolve("keys.p12");
    TestKeys.make(keys);
    List<Device> devices = NAMES.stream().map(name -> new Device(name, "cpu:0")).toList();
    for (Device device : devices) {
      Session session = new Session(Backends.fastest(1).backend(), 1L << 28, 1);
      sessions.put(device.process(), session);
      Map<String, Memory> memories = Map.of(device.name(), session.memory());
      TcpRendezvous at =
          new TcpRendezvous(
              device.process(),
              TestKeys.context(keys),
              new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
              memories,
              this::address);
      rendezvous.put(device.process(), at);
      Placer placer = new Placer(devices, RoughCosts.TYPICAL, "worker");
      parts.put(
          device.process(), new PartitionedSession("test", Map.of(device, session), placer, at));
    }
  }

  private InetSocketAddress address(String name) {
    TcpRendezvous at = rendezvous.get(name);
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), at == null ? 0 : at.port());
  }

  @AfterEach
  void stop() throws Exception {
    for (TcpRendezvous each : rendezvous.values()) {
      each.close();
    }
    parts.values().forEach(PartitionedSession::close);
    sessions.values().forEach(Session::close);
    arena.close();
  }

  private Tensor numbers(int... numbers) {
    Tensor tensor = Tensor.allocate(arena, Shape.of(numbers.length), DType.I32);
    for (int i = 0; i < numbers.length; i++) {
      tensor.segment().setAtIndex(ValueLayout.JAVA_INT, i, numbers[i]);
    }
    return tensor;
  }

  /** Runs on all three; gives the first fetch of the worker. */
  private float[] run(Map<Node, Tensor> feeds, List<Node> fetches) throws Exception {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<float[]>> futures = new ArrayList<>();
      for (String name : NAMES) {
        PartitionedSession part = parts.get(name);
        if (part == null) {
          throw new IllegalStateException(name + " has no session");
        }
        boolean works = name.equals("worker");
        futures.add(
            threads.submit(() -> {
              try (Results results = part.run(feeds, fetches)) {
                return works ? results.get(0).floats() : new float[0];
              }
            }));
      }
      for (Future<float[]> future : futures) {
        var _ = future.get();
      }
      return futures.getFirst().get();
    }
  }

  @Test
  void rowsAreFoundAndTrained() throws Exception {
    Node ids = Node.input("ids", new Type(Shape.of(4), DType.I32));
    Node rows = table.lookup(ids);
    Node loss = rows.multiply(rows).sum(0, 2);
    Node gradient = Gradients.of(loss, List.of(rows)).getFirst();
    Node step = table.addRows(gradient.multiply(-0.25), ids);
    Node seen = rows.add(0).at("worker");
    Map<Node, Tensor> feeds = Map.of(ids, numbers(7, 2, 7, 19_999));
    float[] before = run(feeds, List.of(seen));
    for (int column = 0; column < WIDTH; column++) {
      assertThat(before[column]).isEqualTo(7 + column / 100f);
      assertThat(before[WIDTH + column]).isEqualTo(2 + column / 100f);
      assertThat(before[3 * WIDTH + column]).isEqualTo(19_999 + column / 100f);
    }
    float[] first = run(feeds, List.of(seen, step));
    assertThat(first).containsExactly(before);
    float[] after = run(feeds, List.of(seen));
    for (int column = 0; column < WIDTH; column++) {
      assertThat(after[column]).as("a number that came twice").isCloseTo(0, within(1e-5f));
      assertThat(after[WIDTH + column]).isCloseTo(before[WIDTH + column] / 2, within(1e-5f));
    }
    float[] others = run(Map.of(ids, numbers(0, 1, 3, 4)), List.of(seen));
    assertThat(others[3 * WIDTH]).as("a row that nobody touched").isEqualTo(4);
  }

  @Test
  void whatMovesGrowsWithTheRowsThatAreTouched() throws Exception {
    Map<Integer, Long> moved = new HashMap<>();
    for (int count : new int[] {64, 640, 6400}) {
      Node ids = Node.input("ids", new Type(Shape.of(count), DType.I32));
      Node rows = table.lookup(ids);
      Node loss = rows.multiply(rows).sum(0, 2).at("worker");
      Node gradient = Gradients.of(loss, List.of(rows)).getFirst();
      Node step = table.addRows(gradient.multiply(-0.25), ids);
      int[] some = new SplittableRandom(count).ints(count, 0, ROWS).toArray();
      long before = sent();
      var _ = run(Map.of(ids, numbers(some)), List.of(loss, step));
      moved.put(count, sent() - before);
      // There and back, and the numbers and a bit for each row and server.
      long there = 2L * count * table.rowBytes();
      assertThat(sent() - before).isBetween(there, there + 2L * count * Integer.BYTES + count);
    }
    assertThat((double) moved.getOrDefault(6400, 0L) / moved.getOrDefault(64, 1L))
        .isCloseTo(100, within(3.0));
    assertThat(moved.getOrDefault(64, Long.MAX_VALUE))
        .as("bytes, of a table of 2.5 MB")
        .isLessThan(20_000L);
  }

  private long sent() {
    return rendezvous.values().stream().mapToLong(TcpRendezvous::sentBytes).sum();
  }
}
