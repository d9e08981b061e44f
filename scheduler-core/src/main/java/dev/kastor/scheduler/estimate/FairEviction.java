package dev.kastor.scheduler.estimate;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/**
 * Choice of what a bounded memory of several owners gives up: the oldest of whoever holds most, so
 * that nobody's entries go because another has many.
 */
public final class FairEviction {
  private FairEviction() {}

  private static final class Held<K> {
    private final Deque<K> oldestFirst = new ArrayDeque<>();
    private long weight;
  }

  /**
   * Entries that have to go so that the rest weighs at most so much. Takes time in proportion to
   * the entries and the logarithm of the owners.
   *
   * @param oldestFirst all entries
   * @param owner to whom an entry belongs
   * @param weight what an entry counts, above 0
   */
  public static <K> List<K> surplus(
      Collection<K> oldestFirst, Function<K, String> owner, ToLongFunction<K> weight, long most) {
    Map<String, Held<K>> byOwner = new LinkedHashMap<>();
    long total = 0;
    for (K entry : oldestFirst) {
      Held<K> held = byOwner.computeIfAbsent(owner.apply(entry), name -> new Held<>());
      held.oldestFirst.addLast(entry);
      held.weight += weight.applyAsLong(entry);
      total += weight.applyAsLong(entry);
    }
    PriorityQueue<Held<K>> heaviestFirst =
        new PriorityQueue<>(Comparator.comparingLong((Held<K> held) -> held.weight).reversed());
    heaviestFirst.addAll(byOwner.values());
    List<K> gone = new ArrayList<>();
    while (total > most) {
      Held<K> heaviest = heaviestFirst.remove();
      K oldest = heaviest.oldestFirst.removeFirst();
      gone.add(oldest);
      heaviest.weight -= weight.applyAsLong(oldest);
      total -= weight.applyAsLong(oldest);
      heaviestFirst.add(heaviest);
    }
    return gone;
  }
}
