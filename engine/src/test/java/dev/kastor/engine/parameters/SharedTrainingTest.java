package dev.kastor.engine.parameters;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.engine.autodiff.Gradients;
import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.exec.Results;
import dev.kastor.engine.exec.Session;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.partition.LocalRendezvous;
import dev.kastor.engine.partition.PartitionedSession;
import dev.kastor.engine.placement.Device;
import dev.kastor.engine.placement.Placer;
import dev.kastor.engine.placement.RoughCosts;
import dev.kastor.engine.resource.HostCall;
import dev.kastor.engine.resource.Variable;
import dev.kastor.engine.tensor.Shape;
import dev.kastor.engine.tensor.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SharedTrainingTest {
  private static final long CAP = 1 << 24;
  private static final Device SERVER = new Device("server", "cpu:0");
  private static final int ROWS = 8;
  private static final int WIDTH = 3;
  private static final double RATE = 0.1;

  private final Arena arena = Arena.ofShared();
  private final Session server = new Session(new ReferenceBackend(), CAP, 1);
  private final List<AutoCloseable> opened = new ArrayList<>(List.of(server));
  private final Variable weights =
      new Variable("w", Shape.of(WIDTH, 1), new float[] {0.1f, -0.2f, 0.3f});
  private final Node x = Node.input("x", Type.f32(ROWS, WIDTH));
  private final Node y = Node.input("y", Type.f32(ROWS, 1));
  private final SharedTraining training = new SharedTraining(List.of(weights), "server");

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : opened.reversed()) {
      each.close();
    }
    arena.close();
  }

  private Node loss(List<Node> values) {
    Node error = x.matMul(values.getFirst()).add(y.negate());
    return error.multiply(error).mean(0, 2);
  }

  private Map<Node, Tensor> data(int worker) {
    SplittableRandom random = new SplittableRandom(worker);
    return Map.of(x, tensor(Shape.of(ROWS, WIDTH), random), y, tensor(Shape.of(ROWS, 1), random));
  }

  private Tensor tensor(Shape shape, SplittableRandom random) {
    Tensor tensor = Tensor.allocate(arena, shape, Type.f32().dtype());
    float[] values = new float[shape.elements()];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) random.nextDouble(-1, 1);
    }
    tensor.write(values, 0);
    return tensor;
  }

  private Tensor step(int number) {
    Tensor tensor = Tensor.allocate(arena, Shape.of(), Accumulator.STEP.dtype());
    tensor.segment().set(ValueLayout.JAVA_INT, 0, number);
    return tensor;
  }

  private PartitionedSession worker(int number) {
    Device device = new Device("worker" + number, "cpu:0");
    Session own = new Session(new ReferenceBackend(), CAP, 1);
    opened.add(own);
    PartitionedSession session =
        new PartitionedSession(
            device.process(),
            Map.of(SERVER, server, device, own),
            new Placer(List.of(SERVER, device), RoughCosts.TYPICAL, device.process()),
            new LocalRendezvous());
    opened.add(session);
    return session;
  }

  /** Takes part in steps from 0 on; gives how many counted. */
  private int work(int number, int steps, SharedTraining.SynchronousStep graph)
      throws InterruptedException {
    PartitionedSession session;
    Map<Node, Tensor> feeds;
    synchronized (this) {
      session = worker(number);
      feeds = new HashMap<>(data(number));
    }
    int last = -1;
    int counted = 0;
    while (last < steps - 1) {
      synchronized (this) {
        feeds.put(graph.last(), step(last));
      }
      try (Results results = session.run(feeds, graph.fetches())) {
        last = step(results.get(0));
        counted += (int) results.get(2).get(0);
      }
    }
    return counted;
  }

  private float[] weights() throws InterruptedException {
    try (Results results = server.run(List.of(weights.read()))) {
      return results.get(0).floats();
    }
  }

  /** Gradient descent on all data in one session. */
  private float[] alone(int workers, int steps) throws InterruptedException {
    Variable own = new Variable("w", Shape.of(WIDTH, 1), weights());
    try (Session session = new Session(new ReferenceBackend(), CAP, 1)) {
      for (int i = 0; i < steps; i++) {
        List<float[]> gradients = new ArrayList<>();
        Node read = own.read();
        Node gradient = Gradients.of(loss(List.of(read)), List.of(read)).getFirst();
        for (int worker = 0; worker < workers; worker++) {
          try (Results results = session.run(data(worker), List.of(gradient))) {
            gradients.add(results.get(0).floats());
          }
        }
        float[] next = session(session, own);
        for (int j = 0; j < next.length; j++) {
          float sum = 0;
          for (float[] each : gradients) {
            sum += each[j];
          }
          next[j] -= (float) (RATE * sum / workers);
        }
        Node input = Node.input("next", own.type());
        Tensor tensor = Tensor.allocate(arena, own.type().shape(), own.type().dtype());
        tensor.write(next, 0);
        session.run(Map.of(input, tensor), List.of(own.assign(input))).close();
      }
      return session(session, own);
    }
  }

  private static float[] session(Session session, Variable variable) throws InterruptedException {
    try (Results results = session.run(List.of(variable.read()))) {
      return results.get(0).floats();
    }
  }

  @Test
  void togetherWorkersDoWhatOneDoesWithAllData() throws Exception {
    int steps = 10;
    float[] expected = alone(3, steps);
    var graph = training.synchronous(this::loss);
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Integer>> workers = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        int number = i;
        workers.add(threads.submit(() -> work(number, steps, graph)));
      }
      Node serverStep = training.serverStep(3, RATE);
      for (int i = 0; i < steps; i++) {
        server.run(List.of(serverStep)).close();
      }
      for (Future<Integer> worker : workers) {
        assertThat(worker.get()).as("gradients that counted").isEqualTo(steps);
      }
    }
    assertThat(weights()).containsExactly(expected, within(1e-5f));
  }

  @Test
  void aSpareWorkerHidesOneThatStandsStill() throws Exception {
    int steps = 5;
    CountDownLatch hasRead = new CountDownLatch(1);
    CountDownLatch late = new CountDownLatch(1);
    var graph = training.synchronous(this::loss);
    HostCall pause =
        pause(() -> {
          hasRead.countDown();
          late.await();
        });
    var slow = training.synchronous(read -> loss(late(read.getFirst(), pause, "worker2")));
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<Integer> first = threads.submit(() -> work(0, steps, graph));
      Future<Integer> second = threads.submit(() -> work(1, steps, graph));
      Future<Integer> third = threads.submit(() -> work(2, 1, slow));
      float[] before;
      try {
        // Who begins after these steps is not late.
        hasRead.await();
        Node serverStep = training.serverStep(2, RATE);
        for (int i = 0; i < steps; i++) {
          server.run(List.of(serverStep)).close();
        }
        assertThat(first.get() + second.get()).isEqualTo(2 * steps);
        before = weights();
      } finally {
        late.countDown();
      }
      assertThat(third.get()).as("gradients of the late one that counted").isZero();
      assertThat(weights()).isEqualTo(before);
    }
  }

  @Test
  void stalenessIsHowManyUpdatesCameInBetween() throws Exception {
    CountDownLatch hasRead = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    HostCall pause =
        pause(() -> {
          hasRead.countDown();
          go.await();
        });
    var slow = training.asynchronous(read -> loss(late(read.getFirst(), pause, "worker1")), RATE);
    var quick = training.asynchronous(this::loss, RATE);
    PartitionedSession one = worker(0);
    PartitionedSession two = worker(1);
    Map<Node, Tensor> data = data(0);
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<Results> stale = threads.submit(() -> two.run(data, slow.fetches()));
      hasRead.await();
      for (int i = 0; i < 3; i++) {
        try (Results results = one.run(data, quick.fetches())) {
          assertThat(step(results.get(1))).isZero();
        }
      }
      go.countDown();
      try (Results results = stale.get()) {
        assertThat(step(results.get(1))).isEqualTo(3);
      }
    }
    try (Results results = server.run(List.of(training.staleness(2)))) {
      assertThat(results.get(0).floats()).containsExactly(3, 0, 1);
    }
  }

  private static int step(Tensor tensor) {
    return tensor.segment().get(ValueLayout.JAVA_INT, 0);
  }

  /** The same values, later; a call alone would have no gradient. */
  private static List<Node> late(Node read, HostCall pause, String place) {
    return List.of(read.add(pause.call(List.of(read)).at(place).multiply(0)));
  }

  /** Waits for something. */
  private interface Wait {
    void await() throws InterruptedException;
  }

  /** Weights, once something has happened. */
  private static HostCall pause(Wait wait) {
    List<Type> types = List.of(Type.f32(WIDTH, 1));
    return new HostCall(
        "pause",
        types,
        types,
        (operands, results) -> {
          try {
            wait.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
          results.getFirst().write(operands.getFirst().floats(), 0);
        });
  }
}
