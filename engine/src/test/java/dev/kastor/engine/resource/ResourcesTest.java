package dev.kastor.engine.resource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.engine.autodiff.Gradients;
import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.exec.Results;
import dev.kastor.engine.exec.Session;
import dev.kastor.engine.graph.ControlFlow;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.ShapeException;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.tensor.DType;
import dev.kastor.engine.tensor.Shape;
import dev.kastor.engine.tensor.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Variables, queues and host calls in runs that may be concurrent. */
@Timeout(60)
class ResourcesTest {
  private static final long CAP = 1 << 24;

  private final Arena arena = Arena.ofShared();
  private final Session session = new Session(new ReferenceBackend(), CAP, 2);

  @AfterEach
  void close() {
    session.close();
    arena.close();
  }

  private static Variable variable(float... initial) {
    return new Variable("v", Shape.of(initial.length), initial);
  }

  private float[] fetch(Node node) throws InterruptedException {
    try (Results results = session.run(List.of(node))) {
      return results.get(0).floats();
    }
  }

  private static Node vector(double first, double second) {
    return Node.iota(Shape.of(2), 0).multiply(second - first).add(first);
  }

  @Test
  void aVariableKeepsItsValueBetweenRuns() throws InterruptedException {
    Variable v = variable(1, 2);
    assertThat(fetch(v.read())).containsExactly(1, 2);
    assertThat(fetch(v.assign(vector(5, 6)))).containsExactly(5, 6);
    assertThat(fetch(v.addAndRead(vector(1, 2)))).containsExactly(6, 8);
    assertThat(fetch(v.read())).containsExactly(6, 8);
  }

  @Test
  void whatWasReadStaysWhenTheVariableChanges() throws InterruptedException {
    Variable v = variable(1, 2);
    Node before = v.read();
    Node sum = v.addAndRead(vector(10, 10), before);
    Node after = v.read(sum);
    try (Results results = session.run(List.of(before, sum, after))) {
      assertThat(results.get(0).floats()).containsExactly(1, 2);
      assertThat(results.get(1).floats()).containsExactly(11, 12);
      assertThat(results.get(2).floats()).containsExactly(11, 12);
    }
  }

  @Test
  void whatWasFedMayChangeLater() throws InterruptedException {
    Variable v = variable(0, 0);
    TensorQueue queue = new TensorQueue("q", List.of(Type.f32(2)), 1);
    Node fed = Node.input("fed", Type.f32(2));
    Tensor tensor = Tensor.allocate(arena, Shape.of(2), DType.F32);
    tensor.write(new float[] {1, 2}, 0);
    session.run(Map.of(fed, tensor), List.of(v.assign(fed), queue.enqueue(List.of(fed)))).close();
    tensor.write(new float[] {3, 4}, 0);
    assertThat(fetch(v.read())).containsExactly(1, 2);
    assertThat(fetch(queue.dequeue())).containsExactly(1, 2);
    assertThat(fetch(v.addAndRead(vector(1, 1)))).containsExactly(2, 3);
  }

  @Test
  void additionsOfConcurrentRunsAreAllThere() throws Exception {
    Variable v = variable(0, 0);
    Node add = v.addAndRead(vector(1, 2));
    inParallel(
        8,
        () -> {
          for (int i = 0; i < 100; i++) {
            fetch(add);
          }
          return 0;
        });
    assertThat(fetch(v.read())).containsExactly(800, 1600);
  }

  @Test
  void addingTakesNoMemoryWhenNobodyElseHoldsTheValue() throws InterruptedException {
    Variable v = new Variable("large", Shape.of(1 << 20), new float[1 << 20]);
    Node delta = Node.input("delta", v.type());
    Node step = Node.group(List.of(v.addAndRead(delta)));
    Tensor ones = Tensor.allocate(arena, v.type().shape(), DType.F32);
    for (int i = 0; i < 3; i++) {
      session.run(Map.of(delta, ones), List.of(step)).close();
    }
    assertThat(session.memory().peakBytes()).isEqualTo(4 << 20);
  }

  @Test
  void onlyTheNamedRowsChange() throws InterruptedException {
    Variable table = new Variable("table", Shape.of(4, 2), new float[8]);
    Node numbers = Node.input("numbers", new Type(Shape.of(3), DType.I32));
    Node rows = Node.iota(Shape.of(3, 2), 0).add(1);
    Node added = table.addRows(rows, numbers);
    session.run(Map.of(numbers, ints(2, 0, 2)), List.of(added)).close();
    assertThat(fetch(table.read())).containsExactly(2, 2, 0, 0, 4, 4, 0, 0);
    assertThatThrownBy(() -> session.run(Map.of(numbers, ints(1, 4, 1)), List.of(added)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no row 4");
    assertThatThrownBy(() -> table.addRows(rows.reshape(2, 3), numbers))
        .isInstanceOf(ShapeException.class)
        .hasMessageContaining("[4, 2]");
  }

  private Tensor ints(int... values) {
    Tensor tensor = Tensor.allocate(arena, Shape.of(values.length), DType.I32);
    tensor.write(values, 0);
    return tensor;
  }

  @Test
  void trainsByItsOwnGradient() throws InterruptedException {
    Variable v = variable(4, -2);
    Node value = v.read();
    Node loss = value.multiply(value).sum(0, 1);
    Node gradient = Gradients.of(loss, List.of(value)).getFirst();
    Node step = v.addAndRead(gradient.multiply(-0.25));
    assertThat(fetch(step)).containsExactly(2, -1);
    assertThat(fetch(step)).containsExactly(1, -0.5f);
  }

  /** The example of docs/engine.md. */
  @Test
  void trainsThroughALoop() throws InterruptedException {
    Node x = Node.input("x", Type.f32(1, 3));
    Tensor input = Tensor.allocate(arena, Shape.of(1, 3), DType.F32);
    input.write(new float[] {0.5f, -1, 0.25f}, 0);
    Variable weights =
        new Variable("w", Shape.of(3, 3), new float[] {1, 0.5f, 0, 0, 1, 0.5f, 0.5f, 0, 1});
    Node w = weights.read();
    Node state =
        ControlFlow.loop(
                List.of(Node.constant(0), x),
                values -> Node.constant(9.5).greater(values.get(0)),
                values -> List.of(values.get(0).add(1), values.get(1).matMul(w).tanh()))
            .get(1);
    Node loss = state.multiply(state).sum(0, 2);
    Node step = weights.addAndRead(Gradients.of(loss, List.of(w)).getFirst().multiply(-0.1));
    List<Float> losses = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      try (Results results = session.run(Map.of(x, input), List.of(loss, step))) {
        losses.add(results.get(0).get(0));
      }
    }
    assertThat(losses.getLast()).isLessThan(losses.getFirst() / 10);
  }

  @Test
  void anEffectInALoopTakesPlaceOnceInEachIteration() throws InterruptedException {
    Variable v = variable(0, 0);
    List<Node> last =
        ControlFlow.loop(
            List.of(Node.constant(0), vector(0, 0)),
            values -> Node.constant(4.5).greater(values.get(0)),
            values -> List.of(values.get(0).add(1), v.addAndRead(vector(1, 10), values.get(1))));
    assertThat(fetch(last.get(1))).containsExactly(5, 50);
    assertThat(fetch(v.read())).containsExactly(5, 50);
  }

  @Test
  void theBranchThatIsNotTakenHasNoEffect() throws InterruptedException {
    Variable v = variable(0, 0);
    Node predicate = Node.input("p", Type.f32());
    Node chosen =
        ControlFlow.cond(
                predicate,
                List.of(vector(1, 2)),
                operands -> List.of(v.addAndRead(operands.getFirst())),
                operands -> operands)
            .getFirst();
    for (float p : new float[] {0, 1, 0}) {
      Tensor scalar = Tensor.allocate(arena, Shape.of(), DType.F32);
      scalar.write(new float[] {p}, 0);
      session.run(Map.of(predicate, scalar), List.of(chosen)).close();
    }
    assertThat(fetch(v.read())).containsExactly(1, 2);
  }

  @Test
  void iterationsOverlapAsFarAsTheyMay() throws InterruptedException {
    for (int parallel : new int[] {1, 3}) {
      AtomicInteger inside = new AtomicInteger();
      AtomicInteger most = new AtomicInteger();
      CountDownLatch together = new CountDownLatch(parallel);
      HostCall wait =
          new HostCall(
              "wait",
              List.of(Type.f32()),
              List.of(Type.f32()),
              (operands, results) -> {
                most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                together.countDown();
                await(together);
                inside.decrementAndGet();
                results.getFirst().write(operands.getFirst().floats(), 0);
              });
      List<Node> last =
          ControlFlow.loop(
              List.of(Node.constant(0), Node.constant(0)),
              values -> Node.constant(8.5).greater(values.get(0)),
              values ->
                  List.of(values.get(0).add(1), wait.call(List.of(values.get(0))).multiply(1)),
              parallel);
      assertThat(fetch(last.get(1))).containsExactly(8);
      assertThat(most.get()).as("iterations at once").isEqualTo(parallel);
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aQueueHandsOverInOrderBetweenRuns() throws Exception {
    TensorQueue queue = new TensorQueue("q", List.of(Type.f32(2), Type.f32()), 2);
    Node left = Node.input("left", Type.f32(2));
    Node right = Node.input("right", Type.f32());
    Node enqueue = queue.enqueue(List.of(left, right));
    Node dequeue = queue.dequeue();
    List<Node> parts = dequeue.parts();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<List<float[]>> taken =
          threads.submit(() -> {
            List<float[]> all = new ArrayList<>();
            while (true) {
              try (Results results = session.run(parts)) {
                all.add(
                    new float[] {
                      results.get(0).get(0), results.get(0).get(1), results.get(1).get(0)
                    });
              } catch (QueueClosedException e) {
                return all;
              }
            }
          });
      for (int i = 0; i < 10; i++) {
        Tensor pair = Tensor.allocate(arena, Shape.of(2), DType.F32);
        pair.write(new float[] {i, -i}, 0);
        Tensor one = Tensor.allocate(arena, Shape.of(), DType.F32);
        one.write(new float[] {100 + i}, 0);
        session.run(Map.of(left, pair, right, one), List.of(enqueue)).close();
      }
      session.run(List.of(queue.close())).close();
      List<float[]> all = taken.get();
      assertThat(all).hasSize(10);
      for (int i = 0; i < 10; i++) {
        assertThat(all.get(i)).containsExactly(i, -i, 100 + i);
      }
    }
    assertThatThrownBy(() -> session.run(List.of(enqueue)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aRunThatFailsEndsTheWaitOfItsOtherSteps() {
    TensorQueue queue = new TensorQueue("q", List.of(Type.f32()), 1);
    Node never = queue.dequeue();
    HostCall fail =
        new HostCall(
            "fail",
            List.of(),
            List.of(Type.f32()),
            (operands, results) -> {
              throw new IllegalStateException("as told");
            });
    assertThatThrownBy(() -> session.run(List.of(never.add(1), fail.call(List.of()))))
        .hasMessageContaining("as told");
    assertThat(session.memory().usedBytes() - session.memory().compiledBytes()).isZero();
  }

  @Test
  void whoIsInterruptedStopsWaiting() throws Exception {
    TensorQueue queue = new TensorQueue("q", List.of(Type.f32()), 1);
    Thread thread =
        Thread.ofVirtual()
            .start(() ->
                assertThatThrownBy(() -> session.run(List.of(queue.dequeue())))
                    .isInstanceOf(InterruptedException.class));
    thread.interrupt();
    thread.join();
  }

  @Test
  void aHostCallSeesItsOperands() throws InterruptedException {
    HostCall sum =
        new HostCall(
            "sum",
            List.of(Type.f32(2)),
            List.of(Type.f32()),
            (operands, results) ->
                results
                    .getFirst()
                    .segment()
                    .set(
                        ValueLayout.JAVA_FLOAT,
                        0,
                        operands.getFirst().get(0) + operands.getFirst().get(1)));
    assertThat(fetch(sum.call(List.of(vector(3, 4))))).containsExactly(7);
    assertThatThrownBy(() -> sum.call(List.of(Node.constant(1))))
        .isInstanceOf(ShapeException.class)
        .hasMessageContaining("Call sum");
  }

  private static void inParallel(int threads, Callable<Integer> work)
      throws InterruptedException, ExecutionException {
    try (ExecutorService pool = Executors.newFixedThreadPool(threads)) {
      List<Future<Integer>> all = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        all.add(pool.submit(work));
      }
      for (Future<Integer> each : all) {
        each.get();
      }
    }
  }
}
