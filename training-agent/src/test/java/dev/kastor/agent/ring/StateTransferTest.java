package dev.kastor.agent.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class StateTransferTest {
  private final Crew crew = new Crew();
  private final List<RingListener> listeners = new ArrayList<>();

  @AfterEach
  void close() throws Exception {
    for (RingListener listener : listeners) {
      listener.close();
    }
    crew.close();
  }

  private StateTransfer transfer(int rank) {
    return new StateTransfer(
        listeners.get(rank), 3, rank, Crew.addresses(listeners), Crew.LIMITS, () -> false);
  }

  private static byte[] state(int bytes) {
    byte[] state = new byte[bytes];
    RandomGeneratorFactory.getDefault().create(5).nextBytes(state);
    return state;
  }

  private void listen(int size) throws Exception {
    for (int i = 0; i < size; i++) {
      listeners.add(Crew.listen());
    }
  }

  @Tag("slow")
  @Test
  void bringsTheSameBytesFromAllDonorsToAllThatAreBehind() throws Exception {
    listen(5);
    byte[] state = state(3_000_001);
    List<Integer> donors = List.of(0, 2, 4);
    List<Integer> receivers = List.of(1, 3);
    List<byte[]> results =
        crew.together(
            5,
            rank -> {
              try (Arena arena = Arena.ofShared()) {
                if (receivers.contains(rank)) {
                  return transfer(rank)
                      .receive(state.length, donors, arena)
                      .toArray(ValueLayout.JAVA_BYTE);
                }
                MemorySegment own = arena.allocate(state.length);
                own.copyFrom(MemorySegment.ofArray(state));
                transfer(rank).send(own, donors, receivers);
                return state;
              }
            });
    for (byte[] result : results) {
      assertThat(result).isEqualTo(state);
    }
  }

  @Test
  void failsWhenTheDonorHoldsAStateOfAnotherSize() throws Exception {
    listen(2);
    byte[] state = state(1000);
    var sending =
        crew.start(
            1,
            rank -> {
              transfer(0).send(MemorySegment.ofArray(state), List.of(0), List.of(1));
              return true;
            });
    try (Arena arena = Arena.ofShared()) {
      assertThatThrownBy(() -> transfer(1).receive(1001, List.of(0), arena))
          .isInstanceOf(RingBrokenException.class)
          .hasMessageContaining("1001");
    }
    sending.getFirst().get();
  }
}
