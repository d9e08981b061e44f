package dev.kastor.engine.saving;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.exec.Results;
import dev.kastor.engine.exec.Session;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.parameters.Accumulator;
import dev.kastor.engine.parameters.ShardedTable;
import dev.kastor.engine.resource.Variable;
import dev.kastor.engine.tensor.DType;
import dev.kastor.engine.tensor.Shape;
import dev.kastor.engine.tensor.Tensor;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SaverTest {
  private static final long CAP = 1 << 24;

  @TempDir private Path folder;
  private final Arena arena = Arena.ofShared();
  private final Session session = new Session(new ReferenceBackend(), CAP, 2);
  private final Node step = Node.input("step", Accumulator.STEP);
  private final Variable v = new Variable("v", Shape.of(2, 2), new float[] {1, 2, 3, 4});
  private final Variable s = new Variable("s", Shape.of(), new float[] {5});

  @AfterEach
  void close() {
    session.close();
    arena.close();
  }

  private Saver saver() {
    return new Saver(List.of(Piece.whole("v", v, ""), Piece.whole("s", s, "")), folder, 2);
  }

  private void run(Session in, Node node, int number) throws InterruptedException {
    Tensor tensor = Tensor.allocate(arena, Shape.of(), DType.I32);
    tensor.segment().set(ValueLayout.JAVA_INT, 0, number);
    in.run(Map.of(step, tensor), List.of(node)).close();
  }

  private float[] fetch(Session in, Node node) throws InterruptedException {
    try (Results results = in.run(List.of(node))) {
      return results.get(0).floats();
    }
  }

  @Test
  void whatWasSavedComesBack() throws Exception {
    Saver saver = saver();
    assertThat(saver.newest()).isEmpty();
    run(session, saver.save(step), 7);
    assertThat(fetch(session, v.addAndRead(v.read()))).containsExactly(2, 4, 6, 8);
    run(session, saver.restore(step), 7);
    assertThat(fetch(session, v.read())).containsExactly(1, 2, 3, 4);
    try (Session other = new Session(new ReferenceBackend(), CAP, 1)) {
      run(session, saver.save(step, s.assign(Node.constant(9))), 8);
      assertThat(saver.newest()).contains(8L);
      run(other, saver.restore(step), 8);
      assertThat(fetch(other, s.read())).containsExactly(9);
    }
  }

  @Test
  void onlyTheLastAreKept() throws Exception {
    Saver saver = saver();
    for (int i = 1; i <= 4; i++) {
      run(session, saver.save(step), i);
    }
    run(session, saver.save(step), 4);
    try (var entries = Files.list(folder)) {
      assertThat(entries.map(path -> path.getFileName().toString()).sorted())
          .containsExactly("step-3", "step-4");
    }
  }

  @Test
  void aDamagedSaveIsPassedOverAndNamed() throws Exception {
    Saver saver = saver();
    run(session, saver.save(step), 1);
    run(session, saver.save(step), 2);
    Path piece = folder.resolve("step-2").resolve("0.piece");
    byte[] whole = Files.readAllBytes(piece);
    for (int at = 0; at < whole.length; at++) {
      byte[] damaged = whole.clone();
      damaged[at] ^= 1;
      Files.write(piece, damaged);
      assertThat(saver.newest()).as("with byte %d changed", at).contains(1L);
    }
    for (int length = 0; length < whole.length; length++) {
      Files.write(piece, java.util.Arrays.copyOf(whole, length));
      assertThat(saver.newest()).as("with %d bytes", length).contains(1L);
    }
    assertThatThrownBy(() -> run(session, saver.restore(step), 2))
        .hasMessageContaining("could not be restored")
        .hasMessageContaining("0.piece");
    Files.delete(piece);
    assertThat(saver.newest()).contains(1L);
    run(session, saver.save(step), 2);
    assertThat(saver.newest()).as("saved once more").contains(2L);
  }

  @Test
  void aTensorThatIsNotThereIsNamed() throws Exception {
    run(session, saver().save(step), 1);
    Saver other = new Saver(List.of(Piece.whole("w", v, "")), folder, 2);
    assertThatThrownBy(() -> run(session, other.restore(step), 1))
        .hasMessageContaining("no row 0 of w");
    Variable wide = new Variable("v", Shape.of(2, 3), new float[6]);
    Saver wider = new Saver(List.of(Piece.whole("v", wide, "")), folder, 2);
    assertThatThrownBy(() -> run(session, wider.restore(step), 1))
        .hasMessageContaining("rows of 8 bytes of v, not 12");
  }

  private static ShardedTable table(List<String> places, float factor) {
    return new ShardedTable("t", 10, 3, places, (row, column) -> factor * (10 * row + column));
  }

  private float[] rows(Session in, ShardedTable table) throws InterruptedException {
    Node numbers = Node.input("numbers", new Type(Shape.of(10), DType.I32));
    Tensor tensor = Tensor.allocate(arena, Shape.of(10), DType.I32);
    for (int i = 0; i < 10; i++) {
      tensor.segment().setAtIndex(ValueLayout.JAVA_INT, i, i);
    }
    try (Results results = in.run(Map.of(numbers, tensor), List.of(table.lookup(numbers)))) {
      return results.get(0).floats();
    }
  }

  @Test
  void aTableIsRestoredOntoAnotherNumberOfServers() throws IOException, InterruptedException {
    ShardedTable two = table(List.of("a", "b"), 1);
    run(session, new Saver(two.pieces(), folder, 1).save(step), 5);
    for (List<String> places : List.of(List.of("a"), List.of("a", "b", "c"))) {
      ShardedTable other = table(places, 0);
      assertThat(rows(session, other)).containsOnly(0);
      Saver saver = new Saver(other.pieces(), folder, 1);
      run(session, saver.restore(step), saver.newest().orElseThrow().intValue());
      assertThat(rows(session, other)).isEqualTo(rows(session, two));
    }
  }
}
