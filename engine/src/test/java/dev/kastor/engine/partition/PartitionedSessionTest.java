package dev.kastor.engine.partition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.engine.autodiff.Gradients;
import dev.kastor.engine.backend.Backend;
import dev.kastor.engine.backend.cpu.LoadedCpu;
import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.exec.ControlCases;
import dev.kastor.engine.exec.JavaCall;
import dev.kastor.engine.exec.MemoryCapException;
import dev.kastor.engine.exec.Results;
import dev.kastor.engine.exec.Session;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.op.AddToRow;
import dev.kastor.engine.placement.Device;
import dev.kastor.engine.placement.Placer;
import dev.kastor.engine.placement.RandomCosts;
import dev.kastor.engine.placement.RoughCosts;
import dev.kastor.engine.tensor.DType;
import dev.kastor.engine.tensor.Shape;
import dev.kastor.engine.tensor.Tensor;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** A graph on several devices gives, bit for bit, what it gives on one. */
@Tag("slow")
class PartitionedSessionTest {
  private static final long CAP = 1 << 24;
  private static final int PLACEMENTS = 12;
  private static final List<Device> DEVICES =
      List.of(new Device("cpu:0"), new Device("cpu:1"), new Device("cpu:2"));

  private final Arena arena = Arena.ofShared();
  private final List<Session> opened = new ArrayList<>();

  @AfterEach
  void close() {
    opened.forEach(Session::close);
    arena.close();
  }

  private PartitionedSession session(Placer placer, Backend backend) {
    Map<Device, Session> sessions = new HashMap<>();
    DEVICES.forEach(device -> sessions.put(device, new Session(backend, CAP, 1)));
    opened.addAll(sessions.values());
    return new PartitionedSession(sessions, placer);
  }

  private PartitionedSession session() {
    return session(new Placer(DEVICES, RoughCosts.TYPICAL), new ReferenceBackend());
  }

  @TestFactory
  @Tag("never-retried")
  Stream<DynamicTest> isTheSameBitForBitOnAnyDevices() {
    ControlCases cases = new ControlCases();
    return cases.all().entrySet().stream()
        .map(graph ->
            DynamicTest.dynamicTest(graph.getKey(), () -> isTheSame(cases, graph.getValue())));
  }

  private void isTheSame(ControlCases cases, Node result) throws InterruptedException {
    Node loss = result.multiply(result).reshape(result.shape().elements()).sum(0, 1);
    List<Node> fetches = new ArrayList<>(List.of(result, loss));
    fetches.addAll(Gradients.of(loss, cases.leaves()));
    Map<Node, Tensor> feeds = cases.feeds(arena);
    List<float[]> expected = new ArrayList<>();
    try (Session whole = new Session(LoadedCpu.backend(1), CAP, 1);
        Results results = whole.run(feeds, fetches)) {
      for (int i = 0; i < fetches.size(); i++) {
        expected.add(results.get(i).floats());
      }
    }
    for (int seed = 0; seed < PLACEMENTS; seed++) {
      Placer placer = new Placer(DEVICES, new RandomCosts(seed));
      try (PartitionedSession parts = session(placer, LoadedCpu.backend(1))) {
        for (int round = 0; round < 2; round++) {
          try (Results results = parts.run(feeds, fetches)) {
            for (int i = 0; i < fetches.size(); i++) {
              assertThat(results.get(i).floats())
                  .as("output %d with placement %d", i, seed)
                  .containsExactly(expected.get(i));
            }
          }
        }
      }
    }
  }

  /** An increment is a step of its own, so what is received must be known to come after it. */
  @Test
  void whatComesBackFromElsewhereIsNotWaitedForByWhatIsSent() throws InterruptedException {
    ControlCases cases = new ControlCases();
    Node value = cases.x;
    for (int i = 0; i < 6; i++) {
      Node row = Node.constant(i).broadcast(Shape.of(3));
      value = AddToRow.of(value, Node.constant(i % 2), row).at("cpu:0");
    }
    Node sent = value.tanh().at("cpu:0");
    Node there = sent.multiply(2).at("cpu:2");
    Node sum = sent.add(there).at("cpu:0");
    try (PartitionedSession session = session();
        Results results = session.run(cases.feeds(arena), List.of(sum, sent))) {
      float[] expected = results.get(1).floats();
      for (int i = 0; i < expected.length; i++) {
        assertThat(results.get(0).get(i)).isCloseTo(3 * expected[i], within(1e-5f));
      }
    }
  }

  @Test
  void nodesAreWhereTheyAreSaidToBe() throws InterruptedException {
    float[] sum = {1};
    JavaCall add =
        new JavaCall(
            "add",
            List.of(Type.f32()),
            operands -> {
              sum[0] += operands.getFirst()[0];
              return List.of(sum.clone());
            });
    Node before = add.call(List.of(Node.constant(0))).at("cpu:2");
    Node product = before.multiply(3).at("cpu:1");
    Node after = add.call(List.of(product)).at("cpu:2");
    Session here = new Session(new ReferenceBackend(), CAP, 1);
    Session alsoHere = new Session(new ReferenceBackend(), CAP, 1);
    Session there = new Session(new ReferenceBackend(), CAP, 1);
    Map<Device, Session> sessions =
        Map.of(DEVICES.get(0), here, DEVICES.get(1), alsoHere, DEVICES.get(2), there);
    opened.addAll(sessions.values());
    try (PartitionedSession session =
        new PartitionedSession(sessions, new Placer(DEVICES, RoughCosts.TYPICAL))) {
      for (float expected : new float[] {4, 16}) {
        try (Results results = session.run(Map.of(), List.of(after))) {
          assertThat(results.get(0).get(0)).isEqualTo(expected);
        }
      }
      assertThat(there.memory().peakBytes()).as("where the sum is").isPositive();
      assertThat(alsoHere.memory().peakBytes()).as("where the product is").isPositive();
      assertThat(here.memory().peakBytes()).as("elsewhere").isZero();
    }
  }

  @Test
  void whatComesAfterSomethingElsewhereWaitsForIt() throws InterruptedException {
    List<String> happened = Collections.synchronizedList(new ArrayList<>());
    CountDownLatch elsewhere = new CountDownLatch(1);
    Node begun = JavaCall.of("begun", elsewhere::countDown).call(List.of()).at("cpu:2");
    // The other part runs already, and nothing but this is missing for its next node.
    Node slow =
        new JavaCall(
                "slow",
                List.of(),
                operands -> {
                  happened.add(elsewhere.await(10, TimeUnit.MINUTES) ? "slow" : "not begun");
                  return operands;
                })
            .call(List.of())
            .at("cpu:1");
    Node quick =
        JavaCall.of("quick", () -> happened.add("quick")).call(List.of(), slow).at("cpu:2");
    try (PartitionedSession session = session();
        Results results = session.run(Map.of(), List.of(quick, Node.constant(1), begun))) {
      assertThat(happened).containsExactly("slow", "quick");
      assertThat(results.get(1).get(0)).isEqualTo(1);
    }
  }

  @Test
  void aFailureEndsAllPartsAndTheSessionLivesOn() throws InterruptedException {
    Node never = JavaCall.endless(Type.f32()).call(List.of()).at("cpu:1");
    Node vector = Node.iota(Shape.of(1024), 0);
    JavaCall read = new JavaCall("read", List.of(Type.f32(1, 1, 1)), _ -> List.of(new float[] {1}));
    Node one = read.call(List.of()).at("cpu:2");
    Node huge =
        Node.of(
                new Primitive.Broadcast(Shape.of(64, 1024, 1024)),
                vector.reshape(1, 1, 1024).add(one))
            .at("cpu:2");
    Node sum = huge.sum(0, 3).at("cpu:0").add(never);
    try (PartitionedSession session = session()) {
      assertThatThrownBy(() -> session.run(Map.of(), List.of(sum)))
          .isInstanceOf(MemoryCapException.class)
          .hasMessageContaining("268,435,456");
      try (Results results = session.run(Map.of(), List.of(one.add(1)))) {
        assertThat(results.get(0).get(0)).isEqualTo(2);
      }
    }
  }

  @Test
  void whoIsInterruptedEndsWhatItBegan() throws InterruptedException {
    Node never = JavaCall.endless(Type.f32()).call(List.of()).at("cpu:1").add(1).at("cpu:2");
    try (PartitionedSession session = session()) {
      Thread.currentThread().interrupt();
      assertThatThrownBy(() -> session.run(Map.of(), List.of(never)))
          .isInstanceOf(InterruptedException.class);
      try (Results results = session.run(Map.of(), List.of(Node.constant(3)))) {
        assertThat(results.get(0).get(0)).isEqualTo(3);
      }
    }
  }

  @Test
  void aDeviceWithoutASessionIsNamed() {
    Session here = new Session(new ReferenceBackend(), CAP, 1);
    opened.add(here);
    Node x = Node.input("x", Type.f32());
    Tensor one = Tensor.allocate(arena, Shape.of(), DType.F32);
    try (PartitionedSession session =
        new PartitionedSession(
            Map.of(DEVICES.get(0), here), new Placer(DEVICES, RoughCosts.TYPICAL))) {
      List<Node> fetches = List.of(x.add(1).at("cpu:0").multiply(2).at("cpu:1"));
      assertThatThrownBy(() -> session.run(Map.of(x, one), fetches))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("cpu:1 has no session");
    }
  }
}
