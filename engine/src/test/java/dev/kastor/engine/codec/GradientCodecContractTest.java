package dev.kastor.engine.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.train.GradientCodec;
import dev.kastor.engine.train.GradientCodecPlugin;
import dev.kastor.plugin.Options;
import dev.kastor.plugin.jar.PluginFolder;
import dev.kastor.testkit.SourceJar;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Contract of gradient codecs, those of Kastor and the example's; how members exchange their codes
 * is tested in the agent.
 */
class GradientCodecContractTest {
  private static final int MEMBERS = 3;

  @TempDir private static Path folder;
  private static List<GradientCodecPlugin> codecs = List.of();

  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Vector(String label, float[] values) {
    /** The vector of another member or step: the same kind with other values. */
    float[] times(float factor) {
      float[] scaled = values.clone();
      for (int i = 0; i < scaled.length; i++) {
        scaled[i] *= factor;
      }
      return scaled;
    }
  }

  private static final List<Vector> VECTORS =
      Stream.concat(
              IntStream.of(1, 4, 5, 255, 256, 70_001)
                  .mapToObj(length -> new Vector(length + " elements", gaussian(length, 1))),
              Stream.of(
                  new Vector("zeros", new float[256]),
                  new Vector("spike", spike(256)),
                  new Vector("denormals", gaussian(256, Float.MIN_NORMAL / 8)),
                  new Vector("large", gaussian(256, 1e36f))))
          .toList();

  private static float[] gaussian(int length, float deviation) {
    SplittableRandom random = new SplittableRandom(length);
    float[] values = new float[length];
    for (int i = 0; i < length; i++) {
      values[i] = (float) random.nextGaussian() * deviation;
    }
    return values;
  }

  private static float[] spike(int length) {
    float[] values = new float[length];
    values[length / 3] = -7;
    return values;
  }

  @BeforeAll
  static void build() throws Exception {
    SourceJar.ofExample(folder, "codec", GradientCodecPlugin.class);
    codecs =
        new PluginFolder(folder).addTo(GradientCodecs.BUILT_IN, GradientCodecPlugin.class).all();
    assertThat(codecs).extracting(GradientCodecPlugin::name).contains("bf16", "topk");
  }

  static List<GradientCodecPlugin> codecs() {
    return codecs;
  }

  private static GradientCodec create(GradientCodecPlugin plugin, Vector vector) {
    return plugin.create(Options.usual(plugin), Layout.of("parameters", vector.values().length));
  }

  @ParameterizedTest
  @MethodSource("codecs")
  void codesAreWithinTheirBoundAndLeaveTheGradientAsItIs(GradientCodecPlugin plugin) {
    for (Vector vector : VECTORS) {
      GradientCodec codec = create(plugin, vector);
      assertThat(codec.mostBytes()).isEqualTo(create(plugin, vector).mostBytes()).isPositive();
      for (int step = 1; step <= 4; step++) {
        float[] gradient = vector.times(step);
        byte[] code = codec.encode(gradient);
        assertThat((long) code.length).as(vector.label()).isBetween(1L, codec.mostBytes());
        assertThat(gradient).isEqualTo(vector.times(step));
        codec.commit();
      }
    }
  }

  /** A step that is taken again, with whatever was tried before it, has the same code. */
  @Tag("slow")
  @ParameterizedTest
  @MethodSource("codecs")
  void whatIsNotCommittedDidNotHappen(GradientCodecPlugin plugin) {
    for (Vector vector : VECTORS) {
      GradientCodec disturbed = create(plugin, vector);
      GradientCodec undisturbed = create(plugin, vector);
      for (int step = 1; step <= 4; step++) {
        disturbed.encode(vector.times(-3 * step));
        disturbed.encode(vector.times(step));
        byte[] code = disturbed.encode(vector.times(step));
        assertThat(code).as(vector.label()).isEqualTo(undisturbed.encode(vector.times(step)));
        disturbed.commit();
        undisturbed.commit();
      }
    }
  }

  /** Whatever each member has left out before. */
  @Tag("slow")
  @ParameterizedTest
  @MethodSource("codecs")
  @Tag("never-retried")
  void allMembersReadTheSameBits(GradientCodecPlugin plugin) {
    for (Vector vector : VECTORS) {
      List<GradientCodec> members =
          IntStream.range(0, MEMBERS).mapToObj(_ -> create(plugin, vector)).toList();
      for (int step = 0; step < 3; step++) {
        List<byte[]> codes = new ArrayList<>();
        for (int rank = 0; rank < MEMBERS; rank++) {
          codes.add(members.get(rank).encode(vector.times(0.5f + rank - step)));
        }
        float[] first = sum(members.getFirst(), codes, vector.values().length);
        for (GradientCodec member : members) {
          assertThat(sum(member, codes, first.length)).as(vector.label()).isEqualTo(first);
          member.commit();
        }
        for (float value : first) {
          assertThat(value).isFinite();
        }
      }
    }
  }

  private static float[] sum(GradientCodec codec, List<byte[]> codes, int length) {
    float[] sum = new float[length];
    codes.forEach(code -> codec.decode(code, sum));
    return sum;
  }

  /** The error of one code is made up for by those that follow. */
  @Tag("slow")
  @ParameterizedTest
  @MethodSource("codecs")
  void whatIsLeftOutComesLater(GradientCodecPlugin plugin) {
    for (Vector vector : VECTORS) {
      GradientCodec codec = create(plugin, vector);
      float[] sum = new float[vector.values().length];
      float[] gradient = vector.values();
      for (int step = 0; step < 100; step++) {
        codec.decode(codec.encode(gradient), sum);
        codec.commit();
        gradient = new float[sum.length];
      }
      for (int i = 0; i < sum.length; i++) {
        float error = Math.abs(sum[i] - vector.values()[i]);
        assertThat(error)
            .as("%s, element %d", vector.label(), i)
            .isLessThanOrEqualTo(1e-6f * Math.abs(vector.values()[i]) + Float.MIN_NORMAL);
      }
    }
  }

  @Tag("slow")
  @ParameterizedTest
  @MethodSource("codecs")
  void damagedCodesAreRefusedOrReadButNothingElse(GradientCodecPlugin plugin) {
    SplittableRandom random = new SplittableRandom(5);
    for (Vector vector : VECTORS) {
      GradientCodec codec = create(plugin, vector);
      byte[] code = codec.encode(vector.values());
      float[] sum = new float[vector.values().length];
      for (int length : new int[] {0, 1, code.length - 1, code.length + 1}) {
        if (length != code.length) {
          byte[] other = Arrays.copyOf(code, length);
          assertThatThrownBy(() -> codec.decode(other, sum))
              .as("%s, %d bytes of %d", vector.label(), length, code.length)
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("bytes");
        }
      }
      for (int attempt = 0; attempt < 200; attempt++) {
        byte[] changed = code.clone();
        changed[random.nextInt(changed.length)] ^= (byte) (1 << random.nextInt(8));
        try {
          codec.decode(changed, sum);
        } catch (IllegalArgumentException e) {
          assertThat(e.getMessage()).isNotBlank();
        }
      }
    }
  }
}
