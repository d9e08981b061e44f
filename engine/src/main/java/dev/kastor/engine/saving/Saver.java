package dev.kastor.engine.saving;

import dev.kastor.engine.exec.Action;
import dev.kastor.engine.exec.Surroundings;
import dev.kastor.engine.exec.Value;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.ShapeException;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.tensor.DType;
import dev.kastor.engine.tensor.Shape;
import dev.kastor.engine.tensor.Tensor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Saves variables to a folder that all devices see, and restores them, onto other devices or shards
 * too (Abadi et al., OSDI 2016, section 4.3).
 *
 * <p>A save is atomic: a kill at any moment leaves the one before. Each piece has a checksum.
 */
public final class Saver {
  private static final Type STEP = new Type(Shape.of(), DType.I32);

  private final List<Piece> pieces;
  private final SaveFolder folder;

  /**
   * A saver of some variables.
   *
   * @param folder made with the first save
   * @param keepLast how many saves are kept, at least 1
   */
  public Saver(List<Piece> pieces, Path folder, int keepLast) {
    if (keepLast < 1 || pieces.isEmpty()) {
      throw new IllegalArgumentException(
          "At least one of %d pieces and %d saves is none.".formatted(pieces.size(), keepLast));
    }
    this.pieces = List.copyOf(pieces);
    this.folder = new SaveFolder(folder, keepLast);
  }

  /**
   * Saves all pieces, each where it is; has no result.
   *
   * @param step a scalar {@code I32}, the number of the save
   */
  public Node save(Node step, Node... after) {
    List<Node> written = new ArrayList<>();
    for (int i = 0; i < pieces.size(); i++) {
      Piece piece = pieces.get(i);
      Node value = piece.variable().read(after).at(piece.place());
      written.add(Node.of(new Write(folder, piece, i), step, value).at(piece.place()));
    }
    return Node.of(new Commit(folder, pieces.size()), List.of(step), written)
        .at(pieces.getFirst().place());
  }

  /**
   * Sets all variables to what was saved; has no result.
   *
   * @param step a scalar {@code I32}, as {@link #newest} gives it
   */
  public Node restore(Node step) {
    List<Node> set = new ArrayList<>();
    for (Piece piece : pieces) {
      Node value = Node.of(new Read(folder, piece), step).at(piece.place());
      set.add(piece.variable().assign(value).at(piece.place()));
    }
    return Node.group(set);
  }

  /** The newest save that is whole; empty if there is none. */
  public Optional<Long> newest() throws IOException {
    return folder.newest();
  }

  private static long step(Value value) {
    return value.tensor().segment().get(ValueLayout.JAVA_INT, 0);
  }

  private record Write(SaveFolder folder, Piece piece, int number) implements Action {
    @Override
    public List<Type> results(List<Type> inputs) {
      if (!inputs.equals(List.of(STEP, piece.variable().type()))) {
        throw new ShapeException(this, "a step and a value", inputs);
      }
      return List.of();
    }

    @Override
    public List<Value> run(List<Value> inputs, Surroundings surroundings) {
      Tensor value = inputs.get(1).tensor();
      try {
        folder.write(
            step(inputs.getFirst()),
            number,
            new PieceFile(
                piece.tensor(),
                piece.first(),
                piece.every(),
                piece.rows(),
                piece.rowBytes(),
                value.segment()));
      } catch (IOException e) {
        throw new UncheckedIOException(
            piece.tensor() + " could not be saved: " + e.getMessage(), e);
      }
      return List.of();
    }

    @Override
    public boolean waits() {
      return true;
    }

    @Override
    public String name() {
      return "Save " + piece.tensor();
    }
  }

  private record Commit(SaveFolder folder, int pieces) implements Action {
    @Override
    public List<Type> results(List<Type> inputs) {
      if (!inputs.equals(List.of(STEP))) {
        throw new ShapeException(this, "a step", inputs);
      }
      return List.of();
    }

    @Override
    public List<Value> run(List<Value> inputs, Surroundings surroundings) {
      try {
        folder.commit(step(inputs.getFirst()), pieces);
      } catch (IOException e) {
        throw new UncheckedIOException("A save could not be ended: " + e.getMessage(), e);
      }
      return List.of();
    }

    @Override
    public boolean waits() {
      return true;
    }

    @Override
    public String name() {
      return "End of a save";
    }
  }

  private record Read(SaveFolder folder, Piece piece) implements Action {
    @Override
    public List<Type> results(List<Type> inputs) {
      if (!inputs.equals(List.of(STEP))) {
        throw new ShapeException(this, "a step", inputs);
      }
      return List.of(piece.variable().type());
    }

    @Override
    public List<Value> run(List<Value> inputs, Surroundings surroundings) {
      Value value = surroundings.memory().allocate(piece.variable().type(), this);
      try {
        folder.read(
            step(inputs.getFirst()),
            piece.tensor(),
            piece.first(),
            piece.every(),
            piece.rows(),
            piece.rowBytes(),
            value.tensor().segment());
        return List.of(value);
      } catch (IOException e) {
        value.release();
        throw new UncheckedIOException(
            piece.tensor() + " could not be restored: " + e.getMessage(), e);
      }
    }

    @Override
    public boolean waits() {
      return true;
    }

    @Override
    public String name() {
      return "Restore " + piece.tensor();
    }
  }
}
