package dev.kastor.engine.backend.cuda;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Tasks that run one after the other, and the outputs that are complete with the last of them, so
 * that they are copied to the host while the next piece computes: in a training step the gradients
 * of the last layers, which are there first.
 *
 * @param outputs their numbers
 */
record Piece(List<Task> tasks, List<Integer> outputs) {
  Piece {
    tasks = List.copyOf(tasks);
    outputs = List.copyOf(outputs);
  }

  /**
   * Cuts a graph's tasks wherever enough output is complete.
   *
   * @param doneBy for each output, how many tasks it takes
   * @param bytes of each output
   * @param leastBytes of output in each piece but the last: less is not worth a copy of its own
   */
  static List<Piece> cut(
      List<Task> tasks, List<Integer> doneBy, List<Long> bytes, long leastBytes) {
    List<Integer> order =
        IntStream.range(0, doneBy.size())
            .boxed()
            .sorted(Comparator.comparingInt(doneBy::get))
            .toList();
    List<Piece> pieces = new ArrayList<>();
    List<Integer> ready = new ArrayList<>();
    long readyBytes = 0;
    int from = 0;
    for (int i = 0; i < order.size(); i++) {
      int done = doneBy.get(order.get(i));
      ready.add(order.get(i));
      readyBytes += bytes.get(order.get(i));
      boolean moreWithIt = i + 1 < order.size() && doneBy.get(order.get(i + 1)) == done;
      if (readyBytes >= leastBytes && done > from && done < tasks.size() && !moreWithIt) {
        pieces.add(new Piece(tasks.subList(from, done), ready));
        ready.clear();
        readyBytes = 0;
        from = done;
      }
    }
    pieces.add(new Piece(tasks.subList(from, tasks.size()), ready));
    return pieces;
  }
}
