package dev.kastor.engine.exec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.engine.backend.Executable;
import dev.kastor.engine.backend.Residence;
import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.backend.registry.Backends;
import dev.kastor.engine.graph.ControlFlow;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Graphs that a session runs again and again with inputs in fixed places. */
final class CompiledGraphsTest {
  private static final int SIDE = 512;
  private static final long BYTES = 4L * SIDE * SIDE;

  private final Session session = new Session(new ReferenceBackend(), 1 << 22, 1);
  private final Node x = Node.input("x", Type.f32(2));

  @AfterEach
  void close() {
    assertThat(session.memory().usedBytes()).as("bytes that are left").isZero();
    session.close();
  }

  /** The value after so many doublings. */
  private static Node doubled(Node start, int times) {
    return ControlFlow.loop(
            List.of(Node.constant(0), start),
            values -> Node.constant(times - 0.5).greater(values.get(0)),
            values -> List.of(values.get(0).add(1), values.get(1).add(values.get(1))))
        .get(1);
  }

  private List<Integer> run(Executable executable, float... values) {
    executable.input(x).write(values, 0);
    List<Integer> finished = new ArrayList<>();
    executable.run(output -> {
      assertThat(executable.output(output).get(0)).isFinite();
      finished.add(output);
    });
    return finished;
  }

  @Test
  void aPureGraphIsCompiledAsAWhole() {
    try (Executable executable =
        session.compile(Graph.of(x.add(1), x.multiply(3)), Residence.NONE)) {
      assertThat(run(executable, 1, 2)).containsExactlyInAnyOrder(0, 1);
      assertThat(executable.output(0).floats()).containsExactly(2, 3);
      assertThat(run(executable, 5, 6)).hasSize(2);
      assertThat(executable.output(1).floats()).containsExactly(15, 18);
      assertThat(session.memory().compiledBytes()).isEqualTo(session.memory().usedBytes());
    }
  }

  @Test
  void aGraphWithALoopKeepsItsOutputsUntilTheNextRun() {
    try (Executable executable =
        session.compile(Graph.of(doubled(x, 3), x.add(1), x), Residence.NONE)) {
      run(executable, 1, 2);
      assertThat(executable.output(0).floats()).containsExactly(8, 16);
      assertThat(executable.output(2).floats()).containsExactly(1, 2);
      run(executable, 2, 3);
      assertThat(executable.output(0).floats()).containsExactly(16, 24);
      assertThat(executable.output(1).floats()).containsExactly(3, 4);
    }
  }

  @Test
  void tellsOfAnOutputBeforeTheLoopThatFollowsIt() {
    Node early = x.multiply(2);
    List<Node> outputs = List.of(doubled(early, 4), early);
    try (Executable executable = session.compile(new Graph(outputs), Residence.NONE)) {
      assertThat(run(executable, 1, 1)).containsExactly(1, 0);
    }
  }

  @Test
  void aListenerThatFailsEndsTheRunAndNoMore() {
    try (Executable executable = session.compile(Graph.of(doubled(x, 3)), Residence.NONE)) {
      assertThatThrownBy(() ->
              executable.run(_ -> {
                throw new IllegalStateException("enough");
              }))
          .hasMessage("enough");
      assertThatThrownBy(() -> executable.output(0)).hasMessageContaining("Output 0");
      run(executable, 1, 1);
      assertThat(executable.output(0).floats()).containsExactly(8, 8);
    }
  }

  @Test
  void anInputMayLieElsewhere() {
    try (Memory elsewhere = new Memory(1 << 20);
        Executable executable = session.compile(Graph.of(doubled(x, 1)), Residence.NONE)) {
      Value value = elsewhere.allocate(x.type(), "a test");
      value.tensor().write(new float[] {7, 8}, 0);
      executable.bind(x, value.tensor().segment());
      executable.run();
      assertThat(executable.output(0).floats()).containsExactly(14, 16);
      value.release();
    }
  }

  @Test
  void whatLastsTakesItsBytesOfTheCapAndGivesThemBack() {
    Node big = Node.input("big", Type.f32(SIDE, SIDE));
    // An input and an output of a MiB each; the cap holds as much with nothing rounded up.
    try (Session tight = new Session(Backends.fastest(1).backend(), 2 * BYTES + (1 << 18), 1)) {
      for (int round = 0; round < 3; round++) {
        try (Executable executable = tight.compile(Graph.of(big.add(1)), Residence.NONE)) {
          executable.run();
          assertThat(executable.output(0).get(0)).isEqualTo(1);
        }
        assertThat(tight.memory().usedBytes()).isZero();
        assertThat(tight.memory().reservedBytes()).isLessThan(BYTES);
      }
    }
    try (Session tooTight = new Session(Backends.fastest(1).backend(), 2 * BYTES - 1, 1);
        Executable executable = tooTight.compile(Graph.of(big.add(1)), Residence.NONE)) {
      assertThatThrownBy(executable::run)
          .isInstanceOf(MemoryCapException.class)
          .hasMessageContaining("1,048,576 bytes");
    }
  }
}
