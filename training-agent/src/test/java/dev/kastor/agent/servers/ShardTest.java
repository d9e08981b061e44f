package dev.kastor.agent.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.engine.optim.Lamb;
import dev.kastor.engine.optim.Sgd;
import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.tensor.Shape;
import dev.kastor.engine.tensor.Touched;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.Update;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SequencedMap;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ShardTest {
  private static final Layout LAYOUT =
      Layout.of(
          List.of("a.weight", "a.bias", "b.weight", "b.bias", "c.weight"),
          List.of(Shape.of(4, 5), Shape.of(5), Shape.of(5, 6), Shape.of(6), Shape.of(6, 2)));

  private static final Optimizer LAMB = new Lamb(0.9, 0.999, 1e-6, 0.01);
  private static final Optimizer SGD = new Sgd(0.9, 0);

  private final RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(7);

  private float[] random(int length) {
    float[] values = new float[length];
    for (int i = 0; i < length; i++) {
      values[i] = (float) random.nextGaussian();
    }
    return values;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 9})
  void shardsAreWholeTensorsAndCoverAll(int shards) {
    ShardPlan plan = ShardPlan.of(LAYOUT, LAMB, shards);
    assertThat(plan.shards()).isEqualTo(shards);
    List<String> names = new ArrayList<>();
    int most = 0;
    for (int shard = 0; shard < shards; shard++) {
      Layout own = plan.layout(shard);
      assertThat(own.elements()).isEqualTo(plan.to(shard) - plan.from(shard));
      own.entries().forEach(entry -> names.add(entry.name()));
      most = Math.max(most, own.elements());
    }
    assertThat(names).isEqualTo(LAYOUT.entries().stream().map(Layout.Entry::name).toList());
    // 20 + 5 | 30 + 6 + 12 with two, 20 + 5 | 30 | 6 + 12 with three.
    int[] least = {73, 48, 30, 30, 30, 30, 30, 30, 30};
    assertThat(most).isEqualTo(least[shards - 1]);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 5, 9, 80})
  void shardsOfElementwiseUpdatesAreWholeRowsAndCoverAll(int shards) {
    ShardPlan plan = ShardPlan.of(LAYOUT, SGD, shards);
    int end = 0;
    for (int shard = 0; shard < shards; shard++) {
      assertThat(plan.from(shard)).isEqualTo(end);
      end = plan.to(shard);
      assertThat(plan.elements(shard)).isLessThanOrEqualTo(Math.max(6, 73 / shards + 6));
      Layout own = plan.layout(shard);
      assertThat(own.elements()).isEqualTo(plan.elements(shard));
      for (Layout.Entry entry : own.entries()) {
        Layout.Entry whole =
            LAYOUT.entries().stream()
                .filter(each -> each.name().equals(entry.name()))
                .findFirst()
                .orElseThrow();
        assertThat(entry.shape().rank()).isEqualTo(whole.shape().rank());
        assertThat(entry.shape().with(0, 1)).isEqualTo(whole.shape().with(0, 1));
      }
    }
    assertThat(end).isEqualTo(LAYOUT.elements());
  }

  /** Zero rows are not sent; signs of zeros are where two shares cancel, and where one has none. */
  @ParameterizedTest
  @CsvSource({"1, 0.9, 0", "2, 0.9, 0", "3, 0, 0", "5, 0, 0", "2, 0, 0.1"})
  @Tag("never-retried")
  void slicesOfRowsHaveTheBitsOfWholeSlices(int servers, double momentum, double decay) {
    Optimizer sgd = new Sgd(momentum, decay);
    ShardPlan plan = ShardPlan.of(LAYOUT, sgd, servers);
    List<Shard> ofRows = new ArrayList<>();
    List<Shard> ofAll = new ArrayList<>();
    for (int server = 0; server < servers; server++) {
      float[] begin = random(plan.elements(server));
      for (List<Shard> each : List.of(ofRows, ofAll)) {
        Shard shard = new Shard(plan.layout(server), sgd);
        System.arraycopy(begin, 0, shard.vectors().getFirst(), 0, begin.length);
        each.add(shard);
      }
    }
    for (int round = 0; round < 20; round++) {
      List<Touched> one = touched();
      List<Touched> other = touched();
      float[] first = random(LAYOUT.elements(), one);
      float[] second = random(LAYOUT.elements(), other);
      for (int server = 0; server < servers; server++) {
        Shard rows = ofRows.get(server);
        Shard whole = ofAll.get(server);
        for (int share = 0; share < 2; share++) {
          float[] gradient = share == 0 ? first : second;
          Runs runs = Runs.of(plan, server, share == 0 ? one : other);
          float[] packed = new float[runs.elements()];
          runs.gather(gradient, plan.from(server), packed);
          rows.push(new Shard.Slice(share, 0), runs, packed);
          whole.push(
              new Shard.Slice(share, 0), Runs.all(whole.elements()), slice(gradient, plan, server));
        }
        List<Shard.Slice> counted = List.of(new Shard.Slice(0, 0), new Shard.Slice(1, 0));
        assertThat(rows.reduce(counted)).isEqualTo(whole.reduce(counted));
        rows.apply(0.1, round, 2);
        whole.apply(0.1, round, 2);
        for (int i = 0; i < rows.vectors().size(); i++) {
          assertThat(bits(rows.vectors().get(i))).isEqualTo(bits(whole.vectors().get(i)));
        }
      }
    }
  }

  /** Some rows of two of the tensors. */
  private List<Touched> touched() {
    return List.of(new Touched(0, rows(4)), new Touched(2, rows(5)));
  }

  private int[] rows(int all) {
    return IntStream.range(0, all).filter(_ -> random.nextBoolean()).toArray();
  }

  /** A gradient that is zero in all rows that were not touched, and -0 now and then elsewhere. */
  private float[] random(int length, List<Touched> touched) {
    float[] values = random(length);
    for (int i = 0; i < length; i++) {
      values[i] = random.nextInt(3) == 0 ? -0f : values[i];
    }
    for (Touched table : touched) {
      Layout.Entry entry = LAYOUT.entries().get(table.entry());
      int width = entry.shape().extent(1);
      for (int row = 0; row < entry.shape().extent(0); row++) {
        if (Arrays.binarySearch(table.rows(), row) < 0) {
          int from = entry.offset() + row * width;
          Arrays.fill(values, from, from + width, 0);
        }
      }
    }
    return values;
  }

  private static int[] bits(float[] values) {
    return IntStream.range(0, values.length).map(i -> Float.floatToRawIntBits(values[i])).toArray();
  }

  @Test
  void runsAreThoseOfTouchedRowsAndWholeTensors() {
    ShardPlan plan = ShardPlan.of(LAYOUT, LAMB, 1);
    Runs runs =
        Runs.of(plan, 0, List.of(new Touched(0, new int[] {1, 3}), new Touched(2, new int[] {})));
    // Row 1 of a.weight; its row 3 with a.bias behind it; b.bias and c.weight.
    assertThat(runs).isEqualTo(new Runs(5, 10, 15, 25, 55, 73));
    assertThat(Runs.of(plan, 0, List.of())).isEqualTo(Runs.all(73));
    assertThat(runs.fits(73)).isTrue();
    assertThat(runs.fits(72)).isFalse();
    float[] vector = random(80);
    float[] packed = new float[runs.elements()];
    runs.gather(vector, 7, packed);
    float[] back = new float[80];
    runs.scatter(packed, back, 7);
    assertThat(back[7 + 5]).isEqualTo(vector[7 + 5]);
    assertThat(back[7 + 24]).isEqualTo(vector[7 + 24]);
    assertThat(back[7 + 25]).isZero();
    assertThat(back[7 + 72]).isEqualTo(vector[7 + 72]);
  }

  @Test
  void manyRunsAreOne() {
    Layout table = Layout.of(List.of("table"), List.of(Shape.of(20_000, 2)));
    int[] odd = IntStream.range(0, 10_000).map(i -> 2 * i + 1).toArray();
    assertThat(Runs.of(ShardPlan.of(table, SGD, 1), 0, List.of(new Touched(0, odd))))
        .isEqualTo(Runs.all(40_000));
  }

  @Test
  void runsThatCannotBeAreNoMessage() {
    byte[] good = new Message.Pull(false, new Runs(1, 2, 4, 6)).encode();
    for (int[] bad : new int[][] {{1, 1}, {2, 1}, {1, 3, 3, 4}, {3, 4, 1, 2}, {-1, 2}, {1, 2, 3}}) {
      ByteBuffer bytes = ByteBuffer.allocate(2 + 4 * bad.length).put(good, 0, 2);
      Arrays.stream(bad).forEach(bytes::putInt);
      assertThatThrownBy(() -> Message.decode(bytes.array())).isInstanceOf(IOException.class);
    }
  }

  /** LAMB scales by the norms of tensors, and must not see a part of one. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 5, 7})
  @Tag("never-retried")
  void anUpdateOnShardsHasTheBitsOfOneOnTheWhole(int servers) {
    Optimizer optimizer = LAMB;
    float[] whole = random(LAYOUT.elements());
    SequencedMap<String, float[]> slots = optimizer.newSlots(LAYOUT);
    ShardPlan plan = ShardPlan.of(LAYOUT, optimizer, servers);
    List<Shard> shards = new ArrayList<>();
    for (int server = 0; server < servers; server++) {
      Shard shard = new Shard(plan.layout(server), optimizer);
      System.arraycopy(whole, plan.from(server), shard.vectors().getFirst(), 0, shard.elements());
      shard.replaced(0);
      shards.add(shard);
    }
    for (int step = 0; step < 5; step++) {
      float[] one = random(LAYOUT.elements());
      float[] other = random(LAYOUT.elements());
      float[] mean = new float[one.length];
      for (int i = 0; i < mean.length; i++) {
        mean[i] = (one[i] + other[i]) * 0.5f;
      }
      optimizer.apply(new Update(LAYOUT, whole, mean, slots, 0.1, step));
      for (int server = 0; server < servers; server++) {
        Shard shard = shards.get(server);
        // The order in which they come does not matter.
        Runs all = Runs.all(shard.elements());
        shard.push(new Shard.Slice(2L * step + 1, 0), all, slice(other, plan, server));
        shard.push(new Shard.Slice(2L * step, 1), all, slice(one, plan, server));
        shard.push(new Shard.Slice(2L * step, 2), all, slice(other, plan, server));
        shard.reduce(List.of(new Shard.Slice(2L * step, 1), new Shard.Slice(2L * step + 1, 0)));
        shard.apply(0.1, step, 2L * step + 2);
        assertThat(shard.slices()).isZero();
      }
    }
    float[] read = new float[LAYOUT.elements()];
    for (int server = 0; server < servers; server++) {
      float[] own = new float[plan.elements(server)];
      assertThat(shards.get(server).read(Runs.all(own.length), own)).isEqualTo(5);
      System.arraycopy(own, 0, read, plan.from(server), own.length);
    }
    assertThat(read).isEqualTo(whole);
  }

  private static float[] slice(float[] vector, ShardPlan plan, int server) {
    return Arrays.copyOfRange(vector, plan.from(server), plan.to(server));
  }

  @Test
  void aSliceThatWasNotPushedIsRefused() {
    Shard shard = new Shard(LAYOUT, LAMB);
    shard.push(new Shard.Slice(3, 0), Runs.all(shard.elements()), new float[shard.elements()]);
    assertThatThrownBy(() -> shard.reduce(List.of(new Shard.Slice(3, 1))))
        .hasMessageContaining("was not pushed");
  }

  @Test
  void messagesComeBackAsTheyWere() throws Exception {
    Message.Passed passed = new Message.Passed(0.5, Double.NaN, 32, -5, 0.01, true);
    List<Message> all =
        List.of(
            new Message.Ask(),
            new Message.Deal(1, 2, 3, 4, 5),
            new Message.Evaluate(),
            new Message.Evaluated("Genauigkeit ü", -0.5, true),
            new Message.Move(),
            new Message.End("{\"kind\":\"STOPPED\"}"),
            new Message.Pull(true, Runs.all(0)),
            new Message.Pull(false, new Runs(0, 3, 5, 9)),
            new Message.Version(7),
            new Message.Offer(8),
            new Message.Answer(false),
            new Message.Push(9, 10, passed, new Runs(2, 3)),
            new Message.Hello(11, 12),
            new Message.State(13, 14),
            new Message.Reduce(List.of(new Shard.Slice(15, 16), new Shard.Slice(17, 18))),
            new Message.Compare(),
            new Message.Keep(),
            new Message.Apply(0.25, 19, 20),
            new Message.Collect(),
            new Message.Numbers(1.5, -2.5));
    for (Message message : all) {
      byte[] bytes = message.encode();
      assertThat(Message.decode(bytes)).isEqualTo(message);
      for (int length = 0; length < bytes.length; length++) {
        byte[] cut = Arrays.copyOf(bytes, length);
        // A text or a list may be shorter; nothing else may come out than an exception.
        try {
          assertThat(Message.decode(cut)).isNotEqualTo(message);
        } catch (IOException e) {
          assertThat(e).hasMessageContaining("bytes");
        }
      }
    }
    for (byte kind : new byte[] {0, 20, -1, 127}) {
      assertThatThrownBy(() -> Message.decode(new byte[] {kind})).isInstanceOf(IOException.class);
    }
    assertThatThrownBy(() -> Message.decode(new byte[] {1, 0})).hasMessageContaining("too many");
    assertThatThrownBy(() -> Message.decode(new byte[] {10, 2})).isInstanceOf(IOException.class);
  }
}
