package dev.kastor.agent.servers;

import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.tensor.Shape;
import dev.kastor.engine.train.Optimizer;
import java.util.ArrayList;
import java.util.List;

/**
 * Shards of a flat vector: consecutive elements, as few in the largest shard as there can be. Where
 * an optimizer updates each element by itself, tensors are cut between rows; others, which scale
 * the update of each tensor to its size, need whole ones.
 *
 * @param bounds shard {@code i} has the elements {@code [bounds[i], bounds[i + 1])}, perhaps none
 */
public record ShardPlan(Layout layout, List<Integer> bounds) {
  public ShardPlan {
    bounds = List.copyOf(bounds);
  }

  /** The plan for so many shards, the same in all processes. */
  public static ShardPlan of(Layout layout, Optimizer optimizer, int shards) {
    boolean byRows = optimizer.elementwise().isPresent();
    long least = 0;
    for (Layout.Entry entry : layout.entries()) {
      least = Math.max(least, piece(entry, byRows));
    }
    long most = layout.elements();
    while (least < most) {
      long middle = (least + most) / 2;
      if (bounds(layout, byRows, middle).size() <= shards + 1) {
        most = middle;
      } else {
        least = middle + 1;
      }
    }
    List<Integer> bounds = bounds(layout, byRows, least);
    while (bounds.size() <= shards) {
      bounds.add(layout.elements());
    }
    return new ShardPlan(layout, bounds);
  }

  /** Elements of a tensor that are not cut apart. */
  private static int piece(Layout.Entry entry, boolean byRows) {
    return byRows ? width(entry) : entry.shape().elements();
  }

  /** Elements of a row. */
  static int width(Layout.Entry entry) {
    Shape shape = entry.shape();
    return shape.elements() == 0 || shape.rank() == 0 ? 1 : shape.elements() / shape.extent(0);
  }

  /** Bounds of shards that are filled one after another up to a size that each piece has. */
  private static List<Integer> bounds(Layout layout, boolean byRows, long size) {
    List<Integer> bounds = new ArrayList<>(List.of(0));
    for (Layout.Entry entry : layout.entries()) {
      int piece = piece(entry, byRows);
      int at = entry.offset();
      while (entry.end() - bounds.getLast() > size) {
        long fits = (size - (at - bounds.getLast())) / piece * piece;
        at += Math.toIntExact(fits);
        bounds.add(at);
      }
    }
    bounds.add(layout.elements());
    return bounds;
  }

  /** How many there are. */
  public int shards() {
    return bounds.size() - 1;
  }

  /** First element of a shard. */
  public int from(int shard) {
    return bounds.get(shard);
  }

  /** Element behind the last one of a shard. */
  public int to(int shard) {
    return bounds.get(shard + 1);
  }

  /** Elements of a shard. */
  public int elements(int shard) {
    return to(shard) - from(shard);
  }

  /** The layout of a shard by itself: tensors, or rows of them. */
  public Layout layout(int shard) {
    List<String> names = new ArrayList<>();
    List<Shape> shapes = new ArrayList<>();
    for (Layout.Entry entry : layout.entries()) {
      int elements = Math.min(entry.end(), to(shard)) - Math.max(entry.offset(), from(shard));
      if (elements > 0) {
        names.add(entry.name());
        shapes.add(
            elements == entry.shape().elements()
                ? entry.shape()
                : entry.shape().with(0, elements / width(entry)));
      }
    }
    return Layout.of(names, shapes);
  }
}
