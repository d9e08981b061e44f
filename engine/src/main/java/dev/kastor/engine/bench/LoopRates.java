package dev.kastor.engine.bench;

import dev.kastor.engine.autodiff.Gradients;
import dev.kastor.engine.backend.registry.Backends;
import dev.kastor.engine.exec.MemoryCapException;
import dev.kastor.engine.exec.Session;
import dev.kastor.engine.graph.ControlFlow;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.nn.DynamicRecurrence;
import dev.kastor.engine.op.Recurrent;
import dev.kastor.engine.partition.PartitionedSession;
import dev.kastor.engine.placement.Device;
import dev.kastor.engine.placement.Placer;
import dev.kastor.engine.placement.RoughCosts;
import dev.kastor.engine.tensor.DType;
import dev.kastor.engine.tensor.Shape;
import dev.kastor.engine.tensor.Tensor;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Loops of a graph as Yu et al. (EuroSys 2018) measure them: time of an iteration by the length of
 * a recurrent layer whose past is kept in memory or goes to a file; a loop against the same layer
 * unrolled; and layers of a loop on two devices against one.
 */
public final class LoopRates {
  private static final Recurrent.Cell CELL = Recurrent.Cell.LSTM;
  private static final long PLENTY = 400L << 20;

  /** The lengths of the paper's table 1. */
  private static final int[] LENGTHS = {100, 200, 500, 600, 700, 900, 1000};

  /** The cap is so many times what the shortest length takes. */
  private static final double LENGTHS_IN_CAP = 5;

  private static final int LAYERS = 8;
  private static final Device FIRST = new Device("cpu:0");
  private static final Device SECOND = new Device("cpu:1");

  private final int rounds;
  private final int hidden;

  private LoopRates(int rounds, int hidden) {
    this.rounds = rounds;
    this.hidden = hidden;
  }

  /**
   * Prints lines of JSON.
   *
   * @param arguments rounds, and units of a layer
   */
  public static void main(String[] arguments) throws InterruptedException, IOException {
    boolean fits = Arrays.stream(arguments).allMatch(text -> text.matches("[1-9][0-9]{0,3}"));
    if (arguments.length > 2 || !fits) {
      System.err.println("Usage: LoopRates [ROUNDS] [UNITS], each at least 1");
      System.exit(2);
    }
    LoopRates rates =
        new LoopRates(
            arguments.length > 0 ? Integer.parseInt(arguments[0]) : 5,
            arguments.length > 1 ? Integer.parseInt(arguments[1]) : 128);
    rates.lengths();
    for (int batch : new int[] {64, 128, 256}) {
      rates.unrolled(batch);
    }
    rates.devices();
  }

  /** A layer with the sum of its squared last states as loss. */
  private record Layer(Node projected, Node weights, Node bias, Node lengths) {
    static Layer of(int time, int batch, int hidden) {
      int width = CELL.gates() * hidden;
      return new Layer(
          Node.input("projected", Type.f32(time, batch, width)),
          Node.parameter("w", Shape.of(hidden, width)),
          Node.parameter("b", Shape.of(width)),
          Node.input("lengths", Type.f32(batch)));
    }

    List<Node> training(Node last) {
      Node loss = last.multiply(last).sum(0, 2);
      List<Node> fetches = new ArrayList<>(List.of(loss));
      fetches.addAll(Gradients.of(loss, List.of(weights, bias)));
      return fetches;
    }

    List<Node> dynamic() {
      return training(
          DynamicRecurrence.of(CELL, projected, weights, bias, lengths).states().getFirst());
    }

    /** The same with a copy of the cell for each position. */
    List<Node> unrolled() {
      int time = projected.shape().extent(0);
      int batch = projected.shape().extent(1);
      int width = projected.shape().extent(2);
      Node h = Node.constant(0).broadcast(Shape.of(batch, weights.shape().extent(0)));
      Node c = h;
      for (int t = 0; t < time; t++) {
        Node x = projected.slice(0, t, t + 1).reshape(batch, width);
        List<Node> parts = CELL.step(x, h.matMul(weights).add(bias), h, c);
        h = parts.getLast();
        c = parts.get(parts.size() - 2);
      }
      return training(h);
    }

    Map<Node, Tensor> feeds(Arena arena) {
      Map<Node, Tensor> feeds = new HashMap<>();
      for (Node leaf : List.of(projected, weights, bias)) {
        feeds.put(leaf, some(arena, leaf));
      }
      Tensor whole = Tensor.allocate(arena, lengths.shape(), DType.F32);
      float[] each = new float[lengths.shape().elements()];
      Arrays.fill(each, projected.shape().extent(0));
      whole.write(each, 0);
      feeds.put(lengths, whole);
      return feeds;
    }
  }

  private static Tensor some(Arena arena, Node leaf) {
    SplittableRandom random = new SplittableRandom(1);
    float[] floats = new float[leaf.shape().elements()];
    for (int i = 0; i < floats.length; i++) {
      floats[i] = random.nextFloat(-0.1f, 0.1f);
    }
    Tensor tensor = Tensor.allocate(arena, leaf.shape(), DType.F32);
    tensor.write(floats, 0);
    return tensor;
  }

  private void lengths() throws InterruptedException, IOException {
    int batch = 16;
    long cap = (long) (LENGTHS_IN_CAP * peak(LENGTHS[0], batch));
    Path folder = Files.createTempDirectory("kastor-loop");
    try {
      for (boolean spills : new boolean[] {false, true}) {
        for (int length : LENGTHS) {
          double millis = iterationMillis(length, batch, cap, spills ? folder : null);
          System.out.printf(
              Locale.ROOT,
              "{\"part\": \"length\", \"length\": %d, \"spill\": %b, \"capBytes\": %d,"
                  + " \"iterationMillis\": %s}%n",
              length,
              spills,
              cap,
              Double.isNaN(millis) ? "null" : String.format(Locale.ROOT, "%.4f", millis));
        }
      }
    } finally {
      Files.deleteIfExists(folder);
    }
  }

  /** Bytes that a length takes where there are plenty. */
  private long peak(int length, int batch) throws InterruptedException {
    Layer layer = Layer.of(length, batch, hidden);
    try (Arena arena = Arena.ofShared();
        Session session = new Session(Backends.fastest(1).backend(), PLENTY, 1)) {
      session.run(layer.feeds(arena), layer.dynamic()).close();
      return session.memory().peakBytes();
    }
  }

  /** Time of a run over its iterations; not a number where the memory does not suffice. */
  private double iterationMillis(int length, int batch, long cap, @Nullable Path spill)
      throws InterruptedException {
    Layer layer = Layer.of(length, batch, hidden);
    List<Node> fetches = layer.dynamic();
    try (Arena arena = Arena.ofShared();
        Session session = new Session(Backends.fastest(1).backend(), cap, 1, spill)) {
      Map<Node, Tensor> feeds = layer.feeds(arena);
      return 1e3
          / length
          * Rounds.ofClock(rounds, () -> session.run(feeds, fetches).close()).median();
    } catch (MemoryCapException _) {
      return Double.NaN;
    }
  }

  private void unrolled(int batch) throws InterruptedException {
    int time = 50;
    Layer layer = Layer.of(time, batch, hidden);
    try (Arena arena = Arena.ofShared()) {
      Map<Node, Tensor> feeds = layer.feeds(arena);
      Rounds dynamic = seconds(feeds, layer.dynamic());
      Map<Node, Tensor> without = new HashMap<>(feeds);
      without.remove(layer.lengths());
      Rounds fixed = seconds(without, layer.unrolled());
      System.out.printf(
          Locale.ROOT,
          "{\"part\": \"unrolled\", \"batch\": %d, \"dynamicMillis\": %.3f, \"staticMillis\": %.3f,"
              + " \"overhead\": %.4f}%n",
          batch,
          dynamic.median() * 1e3,
          fixed.median() * 1e3,
          dynamic.median() / fixed.median() - 1);
    }
  }

  private Rounds seconds(Map<Node, Tensor> feeds, List<Node> fetches) throws InterruptedException {
    try (Session session = new Session(Backends.fastest(1).backend(), PLENTY, 1)) {
      return Rounds.ofClock(rounds, () -> session.run(feeds, fetches).close());
    }
  }

  /** A stack of layers in one loop, half of them on each of two devices. */
  private void devices() throws InterruptedException {
    double one = stackSeconds(List.of(FIRST));
    double two = stackSeconds(List.of(FIRST, SECOND));
    System.out.printf(
        Locale.ROOT,
        "{\"part\": \"devices\", \"layers\": %d, \"oneMillis\": %.2f, \"twoMillis\": %.2f,"
            + " \"speedUp\": %.3f}%n",
        LAYERS,
        one * 1e3,
        two * 1e3,
        one / two);
  }

  private double stackSeconds(List<Device> devices) throws InterruptedException {
    Map<Device, Session> sessions = new HashMap<>();
    devices.forEach(
        device -> sessions.put(device, new Session(Backends.fastest(1).backend(), PLENTY, 1)));
    try (Arena arena = Arena.ofShared();
        PartitionedSession session =
            new PartitionedSession(sessions, new Placer(devices, RoughCosts.TYPICAL))) {
      Map<Node, Tensor> feeds = new HashMap<>();
      List<Node> fetches = List.of(stack(64, 30, devices, arena, feeds));
      return Rounds.ofClock(rounds, () -> session.run(feeds, fetches).close()).median();
    } finally {
      sessions.values().forEach(Session::close);
    }
  }

  /** Layers of which each takes what the one below it gave in the same iteration. */
  private Node stack(
      int batch, int times, List<Device> devices, Arena arena, Map<Node, Tensor> feeds) {
    int width = CELL.gates() * hidden;
    Node zeros = Node.constant(0).broadcast(Shape.of(batch, hidden));
    List<Node> initial = new ArrayList<>(List.of(Node.constant(0)));
    List<Node> leaves = new ArrayList<>();
    for (int layer = 0; layer < LAYERS; layer++) {
      initial.addAll(List.of(zeros, zeros));
      leaves.add(Node.input("state weights", Type.f32(hidden, width)));
      leaves.add(Node.input("input weights", Type.f32(hidden, width)));
    }
    Node input = Node.input("input", Type.f32(batch, hidden));
    feeds.put(input, some(arena, input));
    leaves.forEach(leaf -> feeds.put(leaf, some(arena, leaf)));
    List<Node> last =
        ControlFlow.loop(
            initial,
            values -> Node.constant(times - 0.5).greater(values.getFirst()),
            values -> {
              List<Node> next = new ArrayList<>(List.of(values.getFirst().add(1)));
              Node below = input;
              for (int layer = 0; layer < LAYERS; layer++) {
                String place = devices.get(layer * devices.size() / LAYERS).toString();
                Node h = values.get(2 * layer + 1);
                Node product = h.matMul(leaves.get(2 * layer)).at(place);
                Node x = below.matMul(leaves.get(2 * layer + 1)).at(place);
                List<Node> parts = CELL.step(x, product, h, values.get(2 * layer + 2));
                below = parts.getLast().at(place);
                next.addAll(List.of(below, parts.get(parts.size() - 2).at(place)));
              }
              return next;
            });
    return last.get(2 * LAYERS - 1).sum(0, 2);
  }
}
