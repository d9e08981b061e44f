package dev.kastor.engine.exec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.engine.autodiff.Gradients;
import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.graph.ControlFlow;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.tensor.Tensor;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Gradients of loops whose past does not fit into memory. */
@Tag("slow")
class SpillTest {
  private static final int WIDTH = 1 << 14;
  private static final int ITERATIONS = 100;

  /** A vector of each iteration is kept: 6.5 MB. */
  private static final long ENOUGH = 1 << 25;

  private static final long TOO_LITTLE = 1 << 21;

  private final Arena arena = Arena.ofShared();
  private final Node start = Node.input("start", Type.f32(WIDTH));
  private final Node factor = Node.input("factor", Type.f32(WIDTH));
  private final List<Node> gradients = gradients();

  @TempDir Path folder;

  @AfterEach
  void close() {
    arena.close();
  }

  private List<Node> gradients() {
    Node end =
        ControlFlow.loop(
                List.of(Node.constant(0), start),
                carried -> Node.constant(ITERATIONS - 0.5).greater(carried.getFirst()),
                carried ->
                    List.of(carried.getFirst().add(1), carried.get(1).multiply(factor).tanh()),
                1)
            .get(1);
    return Gradients.of(end.multiply(end).sum(0, 1), List.of(start, factor));
  }

  private Map<Node, Tensor> feeds() {
    return Map.of(start, values(0.3), factor, values(1.2));
  }

  private Tensor values(double least) {
    Tensor tensor = Tensor.allocate(arena, start.shape(), start.type().dtype());
    float[] floats = new float[WIDTH];
    for (int i = 0; i < WIDTH; i++) {
      floats[i] = (float) (least + 0.1 * i / WIDTH);
    }
    tensor.write(floats, 0);
    return tensor;
  }

  private static Session session(long capBytes) {
    return new Session(new ReferenceBackend(), capBytes, 2);
  }

  private List<float[]> run(Session session) throws InterruptedException {
    try (Results results = session.run(feeds(), gradients)) {
      return List.of(results.get(0).floats(), results.get(1).floats());
    }
  }

  @Test
  void gradientsAreTheSameWhereThePastIsInAFile() throws InterruptedException {
    List<float[]> expected;
    try (Session session = session(ENOUGH)) {
      expected = run(session);
      assertThat(session.memory().peakBytes()).isGreaterThan(3 * TOO_LITTLE);
    }
    assertThat(expected.getLast()).doesNotContain(0);
    try (Session session = new Session(new ReferenceBackend(), TOO_LITTLE, 2, folder)) {
      for (int round = 0; round < 2; round++) {
        List<float[]> spilled = run(session);
        assertThat(spilled.getFirst()).isEqualTo(expected.getFirst());
        assertThat(spilled.getLast()).isEqualTo(expected.getLast());
        assertThat(session.memory().usedBytes() - session.memory().compiledBytes()).isZero();
      }
    }
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void withoutAFileTheCapHolds() {
    try (Session session = session(TOO_LITTLE)) {
      assertThatThrownBy(() -> run(session)).isInstanceOf(MemoryCapException.class);
    }
  }

  @Test
  void aFolderThatIsNotThereIsNamedAndTheSessionLivesOn() throws InterruptedException {
    Path missing = folder.resolve("missing");
    try (Session session = new Session(new ReferenceBackend(), TOO_LITTLE, 2, missing)) {
      assertThatThrownBy(() -> run(session))
          .isInstanceOf(UncheckedIOException.class)
          .hasMessageContaining(missing.toString());
      try (Results results = session.run(feeds(), List.of(start.add(factor)))) {
        assertThat(results.get(0).get(0)).isEqualTo(1.5f);
      }
      assertThat(session.memory().usedBytes() - session.memory().compiledBytes()).isZero();
    }
  }

  @Test
  void anInterruptionWhileSomethingIsWrittenIsOne() throws InterruptedException {
    try (Session session = new Session(new ReferenceBackend(), TOO_LITTLE, 1, folder)) {
      Thread.currentThread().interrupt();
      assertThatThrownBy(() -> run(session)).isInstanceOf(InterruptedException.class);
      assertThat(session.memory().usedBytes() - session.memory().compiledBytes()).isZero();
      assertThat(run(session)).hasSize(2);
    }
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void whatIsTakenOutLeavesItsPlaceToOthers() {
    MemorySegment written = arena.allocate(1 << 13).fill((byte) 7);
    MemorySegment read = arena.allocate(1 << 13);
    try (Spill spill = new Spill(folder)) {
      Spill.Extent first = spill.write(written);
      Spill.Extent second = spill.write(written.asSlice(0, 1 << 12));
      spill.take(first, read);
      assertThat(read.mismatch(written)).isEqualTo(-1);
      assertThat(spill.write(written)).isEqualTo(first);
      assertThat(spill.write(written).offset()).isEqualTo((1 << 13) + (1 << 12));
      spill.take(second, read);
    }
    assertThat(folder).isEmptyDirectory();
  }
}
