package dev.kastor.engine.parameters;

import dev.kastor.engine.exec.Action;
import dev.kastor.engine.exec.Surroundings;
import dev.kastor.engine.exec.Value;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.ShapeException;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.resource.Variable;
import dev.kastor.engine.saving.Piece;
import dev.kastor.engine.tensor.DType;
import dev.kastor.engine.tensor.Shape;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A table of rows that several servers share, such as an embedding (Abadi et al., OSDI 2016,
 * section 4.2): row {@code i} is on server {@code i mod servers}.
 *
 * <p>A server is told which rows are meant and gives or takes its own; the others are rows of
 * zeros, which do not travel between processes. So what is moved grows with the rows that are
 * touched and not with the table.
 */
public final class ShardedTable {
  private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;

  private final List<Variable> shards = new ArrayList<>();
  private final String label;
  private final List<String> places;
  private final int width;

  /** First values of a table. */
  public interface Initial {
    /** The element of a column in a row. */
    float at(int row, int column);
  }

  /**
   * A table.
   *
   * @param places names of devices, or of processes that have devices; one for each shard
   */
  public ShardedTable(String label, int rows, int width, List<String> places, Initial initial) {
    if (places.isEmpty() || rows < places.size()) {
      throw new IllegalArgumentException(
          "Table %s of %d rows cannot have %d shards.".formatted(label, rows, places.size()));
    }
    this.label = label;
    this.places = List.copyOf(places);
    this.width = width;
    int count = places.size();
    for (int shard = 0; shard < count; shard++) {
      int own = (rows - shard + count - 1) / count;
      float[] values = new float[own * width];
      for (int i = 0; i < values.length; i++) {
        values[i] = initial.at(i / width * count + shard, i % width);
      }
      shards.add(new Variable(label + "/" + shard, Shape.of(own, width), values));
    }
  }

  /**
   * Rows by their numbers; a variable to those who differentiate.
   *
   * @param numbers {@code [n]}, of the whole table
   * @return {@code [n, width]}
   */
  public Node lookup(Node numbers, Node... after) {
    @Nullable Node rows = null;
    for (int shard = 0; shard < shards.size(); shard++) {
      String place = places.get(shard);
      Node table = shards.get(shard).read(after).at(place);
      Node part = Node.of(new Lookup(shard, shards.size()), table, numbers).at(place);
      rows = rows == null ? part : rows.add(part);
    }
    return Objects.requireNonNull(rows);
  }

  /**
   * Adds to rows; has no result.
   *
   * @param rows {@code [n, width]}
   * @param numbers {@code [n]}, of the whole table; may repeat
   */
  public Node addRows(Node rows, Node numbers, Node... after) {
    List<Node> added = new ArrayList<>();
    for (int shard = 0; shard < shards.size(); shard++) {
      String place = places.get(shard);
      Node own = Node.of(new OwnRows(shard, shards.size()), rows, numbers);
      Node local = Node.of(new Local(shard, shards.size()), numbers).at(place);
      added.add(shards.get(shard).addRows(own, local, after).at(place));
    }
    return Node.group(added);
  }

  /** What a {@link dev.kastor.engine.saving.Saver} saves of it, whatever the number of servers. */
  public List<Piece> pieces() {
    List<Piece> pieces = new ArrayList<>();
    for (int shard = 0; shard < shards.size(); shard++) {
      pieces.add(new Piece(label, shards.get(shard), shard, shards.size(), places.get(shard)));
    }
    return pieces;
  }

  /** Bytes of a row. */
  public int rowBytes() {
    return width * Float.BYTES;
  }

  private static int number(MemorySegment numbers, long index) {
    return numbers.getAtIndex(ValueLayout.JAVA_INT, index);
  }

  private static void requireNumbers(Action op, List<Type> inputs, int index) {
    boolean fits =
        inputs.size() == index + 1
            && inputs.get(index).dtype() == DType.I32
            && inputs.get(index).shape().rank() == 1;
    if (!fits) {
      throw new ShapeException(op, "numbers I32[n] as operand " + index, inputs);
    }
  }

  /** Copies rows whose number is of a shard; the rest is zero. */
  private static Value rows(
      Action op,
      Surroundings surroundings,
      Value from,
      Value numbers,
      int shard,
      int shards,
      LongUnaryOperator source) {
    int width = from.tensor().shape().extent(1);
    int count = numbers.tensor().shape().elements();
    Value result = surroundings.memory().allocate(Type.f32(count, width), op);
    MemorySegment to = result.tensor().segment();
    long rowBytes = (long) width * Float.BYTES;
    to.asSlice(0, count * rowBytes).fill((byte) 0);
    for (int i = 0; i < count; i++) {
      int number = number(numbers.tensor().segment(), i);
      if (Math.floorMod(number, shards) == shard) {
        long row = source.applyAsLong(i);
        if (row < 0 || row >= from.tensor().shape().extent(0)) {
          result.release();
          throw new IllegalArgumentException("%s: there is no row %d.".formatted(op, number));
        }
        MemorySegment.copy(
            from.tensor().segment(), FLOAT, row * rowBytes, to, FLOAT, i * rowBytes, width);
      }
    }
    return result;
  }

  private record Lookup(int shard, int shards) implements Action {
    @Override
    public List<Type> results(List<Type> inputs) {
      requireNumbers(this, inputs, 1);
      return List.of(
          Type.f32(inputs.get(1).shape().extent(0), inputs.getFirst().shape().extent(1)));
    }

    @Override
    public List<Value> run(List<Value> inputs, Surroundings surroundings) {
      MemorySegment numbers = inputs.get(1).tensor().segment();
      LongUnaryOperator row = i -> Math.floorDiv(number(numbers, i), shards);
      return List.of(rows(this, surroundings, inputs.get(0), inputs.get(1), shard, shards, row));
    }

    @Override
    public String name() {
      return "Rows of shard " + shard;
    }
  }

  private record OwnRows(int shard, int shards) implements Action {
    @Override
    public List<Type> results(List<Type> inputs) {
      requireNumbers(this, inputs, 1);
      return List.of(inputs.getFirst());
    }

    @Override
    public List<Value> run(List<Value> inputs, Surroundings surroundings) {
      return List.of(rows(this, surroundings, inputs.get(0), inputs.get(1), shard, shards, i -> i));
    }

    @Override
    public String name() {
      return "Rows for shard " + shard;
    }
  }

  /** The number of a row within its shard; -1 for those of others. */
  private record Local(int shard, int shards) implements Action {
    @Override
    public List<Type> results(List<Type> inputs) {
      requireNumbers(this, inputs, 0);
      return inputs;
    }

    @Override
    public List<Value> run(List<Value> inputs, Surroundings surroundings) {
      Value numbers = inputs.getFirst();
      Type type = new Type(numbers.tensor().shape(), DType.I32);
      Value result = surroundings.memory().allocate(type, this);
      for (int i = 0; i < type.shape().elements(); i++) {
        int number = number(numbers.tensor().segment(), i);
        int local =
            Math.floorMod(number, shards) == shard
                ? Math.floorDiv(number, shards)
                : Variable.NO_ROW;
        result.tensor().segment().setAtIndex(ValueLayout.JAVA_INT, i, local);
      }
      return List.of(result);
    }

    @Override
    public String name() {
      return "Numbers in shard " + shard;
    }
  }
}
