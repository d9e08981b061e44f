package dev.kastor.agent.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("slow")
class RingGroupTest {
  private static final int SIZE = 5;

  private final Crew crew = new Crew();
  private final List<RingListener> listeners = new ArrayList<>();
  private List<Ring> rings = List.of();

  @BeforeEach
  void form() throws Exception {
    for (int i = 0; i < SIZE; i++) {
      listeners.add(Crew.listen());
    }
    // The watch for silence comes too late for these tests.
    rings =
        crew.rings(
            listeners,
            1,
            Crew.limits(Duration.ofHours(1), Crew.LIMITS.handshake(), Crew.LIMITS.connect()));
  }

  @AfterEach
  void close() throws Exception {
    rings.forEach(Ring::close);
    for (RingListener listener : listeners) {
      listener.close();
    }
    crew.close();
  }

  private List<List<Optional<RingGroup>>> open(List<List<Integer>> groups) throws Exception {
    return crew.together(SIZE, rank -> rings.get(rank).open(groups));
  }

  @Test
  void eachMemberGetsItsSegmentAndGivesItToTheOthers() throws Exception {
    List<List<Optional<RingGroup>>> all = open(List.of(List.of(3, 0, 4), List.of(1, 2)));
    int[] bounds = {2, 7, 7, 70_007};
    List<float[]> sums =
        crew.together(
            SIZE,
            rank -> {
              float[] data = new float[70_009];
              Arrays.fill(data, rank + 1);
              Optional<RingGroup> group = all.get(rank).getFirst();
              if (group.isPresent()) {
                group.get().reduceScatter(data, bounds);
                int own = group.get().rank();
                for (int i = bounds[own]; i < bounds[own + 1]; i++) {
                  assertThat(data[i]).isEqualTo(4 + 1 + 5);
                }
                group.get().allGather(data, bounds);
              } else {
                all.get(rank).get(1).orElseThrow().allReduce(data, 2, 70_007);
              }
              return data;
            });
    for (int rank = 0; rank < SIZE; rank++) {
      boolean first = all.get(rank).getFirst().isPresent();
      assertThat(all.get(rank).get(1).isPresent()).isEqualTo(!first);
      float[] sum = sums.get(rank);
      assertThat(new float[] {sum[0], sum[1], sum[70_007], sum[70_008]}).containsOnly(rank + 1);
      for (int i = 2; i < 70_007; i++) {
        assertThat(sum[i]).isEqualTo(first ? 10 : 5);
      }
    }
    assertThat(all.get(4).getFirst().orElseThrow().rank()).isEqualTo(2);
    assertThat(all.get(4).getFirst().orElseThrow().size()).isEqualTo(3);
  }

  @Test
  void aGroupOfOneLeavesAllAsItIs() throws Exception {
    List<List<Optional<RingGroup>>> all =
        open(List.of(List.of(0), List.of(1), List.of(2), List.of(3), List.of(4)));
    float[] data = {1, 2};
    RingGroup group = all.get(3).get(3).orElseThrow();
    group.reduceScatter(data, new int[] {0, 2});
    group.allGather(data, new int[] {0, 2});
    group.allReduce(data, 0, 2);
    assertThat(data).containsExactly(1, 2);
  }

  /** Member 4 is in no group with member 0, which dies, and hears of it over the others. */
  @Test
  void whateverFailsInOneGroupClosesAll() throws Exception {
    List<List<Optional<RingGroup>>> all =
        open(List.of(List.of(0, 1), List.of(2, 3, 4), List.of(1, 2)));
    List<Future<Boolean>> members =
        crew.start(
            SIZE,
            rank -> {
              float[] data = new float[1000];
              try {
                for (int step = 0; ; step++) {
                  if (rank == 0 && step == 3) {
                    rings.get(rank).close();
                  }
                  for (Optional<RingGroup> group : all.get(rank)) {
                    if (group.isPresent()) {
                      group.get().allReduce(data, 0, data.length);
                    }
                  }
                }
              } catch (RingBrokenException e) {
                return true;
              }
            });
    for (Future<Boolean> member : members) {
      assertThat(member.get()).isTrue();
    }
    assertThatThrownBy(() -> rings.get(4).allGather(new byte[0]))
        .isInstanceOf(RingBrokenException.class);
  }

  /** Two connections wait for members that never looked for them, as the first try broke. */
  @Test
  void noMemberTakesAConnectionOfAnEarlierTry() throws Exception {
    Hello.Key left = new Hello.Key(Hello.Purpose.GROUP, 1, 0, 1);
    Hello.Key right = new Hello.Key(Hello.Purpose.GROUP, 1, 1, 0);
    for (Hello.Key key : List.of(left, right)) {
      Sockets.connect(
              Crew.address(listeners.get(key.to())), Crew.KEY, key, Crew.LIMITS, () -> false)
          .close();
    }
    List<List<Optional<RingGroup>>> all = open(List.of(List.of(0, 1)));
    List<float[]> sums =
        crew.together(
            2,
            rank -> {
              float[] data = {rank + 1};
              all.get(rank).getFirst().orElseThrow().allReduce(data, 0, 1);
              return data;
            });
    assertThat(sums).allSatisfy(sum -> assertThat(sum).containsExactly(3));
  }

  @Test
  void groupsThatCannotBeAreRefused() throws Exception {
    for (List<Integer> group :
        List.of(List.of(0, 0), List.of(5), List.of(-1), List.<Integer>of())) {
      assertThatThrownBy(() -> rings.getFirst().open(List.of(group)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("must have different ranks from 0 to 4");
    }
    assertThatThrownBy(() -> rings.getFirst().open(List.of(List.of(0, 1), List.of(2, 0, 1))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("ranks 0 and 1 are neighbours in two groups");
    List<List<Optional<RingGroup>>> all = open(List.of(List.of(0, 1, 2, 3, 4)));
    assertThatThrownBy(() -> rings.getFirst().open(List.of(List.of(0, 1))))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(
            () -> all.getFirst().getFirst().orElseThrow().reduceScatter(new float[2], new int[2]))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("2 bounds for a group of 5");
  }

  @Test
  void aMemberThatIsGoneBreaksTheOthersWhileGroupsForm() throws Exception {
    rings.get(2).close();
    List<List<Integer>> groups = List.of(List.of(0, 1), List.of(3, 4));
    List<Future<Boolean>> members =
        crew.start(
            SIZE,
            rank -> {
              try {
                rings.get(rank).open(groups);
                return false;
              } catch (RingBrokenException e) {
                return true;
              }
            });
    for (Future<Boolean> member : members) {
      assertThat(member.get()).isTrue();
    }
  }
}
