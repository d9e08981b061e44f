package dev.kastor.agent.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.engine.optim.Lamb;
import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.tensor.Shape;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.Update;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SequencedMap;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ShardTest {
  private static final Layout LAYOUT =
      Layout.of(
          List.of("a.weight", "a.bias", "b.weight", "b.bias", "c.weight"),
          List.of(Shape.of(4, 5), Shape.of(5), Shape.of(5, 6), Shape.of(6), Shape.of(6, 2)));

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
    ShardPlan plan = ShardPlan.of(LAYOUT, shards);
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

  /** LAMB scales by the norms of tensors, and must not see a part of one. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 5, 7})
  void anUpdateOnShardsHasTheBitsOfOneOnTheWhole(int servers) {
    Optimizer optimizer = new Lamb(0.9, 0.999, 1e-6, 0.01);
    float[] whole = random(LAYOUT.elements());
    SequencedMap<String, float[]> slots = optimizer.newSlots(LAYOUT);
    ShardPlan plan = ShardPlan.of(LAYOUT, servers);
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
        shard.push(new Shard.Slice(2L * step + 1, 0), slice(other, plan, server));
        shard.push(new Shard.Slice(2L * step, 1), slice(one, plan, server));
        shard.push(new Shard.Slice(2L * step, 2), slice(other, plan, server));
        shard.reduce(List.of(new Shard.Slice(2L * step, 1), new Shard.Slice(2L * step + 1, 0)));
        shard.apply(0.1, step, 2L * step + 2);
        assertThat(shard.slices()).isZero();
      }
    }
    float[] read = new float[LAYOUT.elements()];
    for (int server = 0; server < servers; server++) {
      assertThat(shards.get(server).read(read, plan.from(server))).isEqualTo(5);
    }
    assertThat(read).isEqualTo(whole);
  }

  private static float[] slice(float[] vector, ShardPlan plan, int server) {
    return Arrays.copyOfRange(vector, plan.from(server), plan.to(server));
  }

  @Test
  void aSliceThatWasNotPushedIsRefused() {
    Shard shard = new Shard(LAYOUT, new Lamb(0.9, 0.999, 1e-6, 0));
    shard.push(new Shard.Slice(3, 0), new float[LAYOUT.elements()]);
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
            new Message.Pull(true),
            new Message.Version(7),
            new Message.Offer(8),
            new Message.Answer(false),
            new Message.Push(9, 10, passed),
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
