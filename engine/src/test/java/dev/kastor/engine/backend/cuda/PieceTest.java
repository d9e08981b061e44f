package dev.kastor.engine.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class PieceTest {
  private static final List<Task> TASKS =
      IntStream.range(0, 6)
          .<Task>mapToObj(i -> new Launch("k" + i, "", List.of(), 1, 1, 1, 1))
          .toList();

  private static List<Piece> cut(List<Integer> doneBy, List<Long> bytes, long least) {
    List<Piece> pieces = Piece.cut(TASKS, doneBy, bytes, least);
    assertThat(pieces.stream().flatMap(piece -> piece.tasks().stream())).isEqualTo(TASKS);
    assertThat(pieces.stream().flatMap(piece -> piece.outputs().stream()))
        .containsExactlyInAnyOrderElementsOf(IntStream.range(0, doneBy.size()).boxed().toList());
    return pieces;
  }

  @Test
  void aPieceEndsWithTheTaskThatCompletesEnough() {
    List<Piece> pieces = cut(List.of(6, 2, 3, 4), List.of(1L, 10L, 10L, 20L), 20);
    assertThat(pieces).extracting(piece -> piece.tasks().size()).containsExactly(3, 1, 2);
    assertThat(pieces)
        .extracting(Piece::outputs)
        .containsExactly(List.of(1, 2), List.of(3), List.of(0));
  }

  @Test
  void outputsOfOneTaskStayTogether() {
    List<Piece> pieces = cut(List.of(2, 2, 0), List.of(50L, 50L, 50L), 20);
    assertThat(pieces).extracting(Piece::outputs).containsExactly(List.of(2, 0, 1), List.of());
  }

  @Test
  void littleOutputIsOnePiece() {
    assertThat(cut(List.of(1, 3, 5), List.of(4L, 4L, 4L), 20)).hasSize(1);
  }

  @Test
  void aGraphOfLeavesHasOnePieceOfNothing() {
    assertThat(Piece.cut(List.of(), List.of(0), List.of(100L), 1))
        .containsExactly(new Piece(List.of(), List.of(0)));
  }
}
