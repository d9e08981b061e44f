package dev.kastor.agent.servers;

import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.tensor.Shape;
import java.util.ArrayList;
import java.util.List;

/**
 * Shards of a flat vector: consecutive whole tensors, as few elements in the largest as there can
 * be. Optimizers that scale the update of each tensor to its size need whole ones.
 *
 * @param bounds shard {@code i} has the elements {@code [bounds[i], bounds[i + 1])}, perhaps none
 */
public record ShardPlan(Layout layout, List<Integer> bounds) {
  public ShardPlan {
    bounds = List.copyOf(bounds);
  }

  /** The plan for so many shards, the same in all processes. */
  public static ShardPlan of(Layout layout, int shards) {
    long least =
        layout.entries().stream().mapToInt(each -> each.shape().elements()).max().orElse(0);
    long most = layout.elements();
    while (least < most) {
      long middle = (least + most) / 2;
      if (bounds(layout, middle).size() <= shards + 1) {
        most = middle;
      } else {
        least = middle + 1;
      }
    }
    List<Integer> bounds = bounds(layout, least);
    while (bounds.size() <= shards) {
      bounds.add(layout.elements());
    }
    return new ShardPlan(layout, bounds);
  }

  /** Bounds of shards that are filled one after another up to a size that each tensor has. */
  private static List<Integer> bounds(Layout layout, long size) {
    List<Integer> bounds = new ArrayList<>(List.of(0));
    for (Layout.Entry entry : layout.entries()) {
      if (entry.end() - bounds.getLast() > size) {
        bounds.add(entry.offset());
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

  /** The layout of a shard by itself. */
  public Layout layout(int shard) {
    List<String> names = new ArrayList<>();
    List<Shape> shapes = new ArrayList<>();
    for (Layout.Entry entry : layout.entries()) {
      if (entry.offset() >= from(shard)
          && entry.end() <= to(shard)
          && entry.end() > entry.offset()) {
        names.add(entry.name());
        shapes.add(entry.shape());
      }
    }
    return Layout.of(names, shapes);
  }
}
