package dev.kastor.agent.ring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class AdmissionTest {
  private final Admission admission = new Admission();
  private final List<SocketChannel> opened = new ArrayList<>();

  @AfterEach
  void close() throws IOException {
    for (SocketChannel channel : opened) {
      channel.close();
    }
  }

  @Test
  void anAddressThatIsNoMembersHasFewPlaces() throws IOException {
    List<Admission.Place> places = new ArrayList<>();
    for (int i = 0; i < Admission.PLACES_PER_STRANGER; i++) {
      places.add(Objects.requireNonNull(admission.admit(channel(), address(1))));
    }
    assertThat(admission.admit(channel(), address(1))).isNull();
    assertThat(admission.admit(channel(), address(2))).isNotNull();
    places.getFirst().close();
    assertThat(admission.admit(channel(), address(1))).isNotNull();
    assertThat(admission.admit(channel(), address(1))).isNull();
  }

  @Test
  void allOtherAddressesTogetherHaveFewPlaces() throws IOException {
    List<Admission.Place> admitted = new ArrayList<>();
    for (int i = 0; i < 4 * Admission.STRANGER_PLACES; i++) {
      Admission.Place place = admission.admit(channel(), address(i));
      if (place != null) {
        admitted.add(place);
      }
    }
    assertThat(admitted).hasSize(Admission.STRANGER_PLACES);
    admitted.getLast().close();
    assertThat(admission.admit(channel(), address(150))).isNotNull();
    assertThat(admission.admit(channel(), address(151))).isNull();
    admission.expect(Set.of(address(200)));
    assertThat(admission.admit(channel(), address(200))).isNotNull();
  }

  @Test
  void aMemberIsAdmittedInTheOldestPlaceOfItsAddresses() throws IOException {
    admission.expect(Set.of(address(1)));
    for (int i = 0; i <= Admission.MEMBER_PLACES; i++) {
      assertThat(admission.admit(channel(), address(1))).isNotNull();
    }
    assertThat(opened.getFirst().isOpen()).isFalse();
    assertThat(opened.subList(1, opened.size())).allMatch(SocketChannel::isOpen);
  }

  /** A connection that is refused waits, unless its address turns out to be a member's. */
  @Test
  void aRefusedConnectionIsClosedAfterAWhileOrWhenItsAddressIsAMembers() throws Exception {
    SocketChannel strangers = channel();
    SocketChannel members = channel();
    Thread first =
        Thread.startVirtualThread(
            () -> admission.closeAfter(Duration.ofDays(1), strangers, address(1)));
    Thread second =
        Thread.startVirtualThread(
            () -> admission.closeAfter(Duration.ofDays(1), members, address(2)));
    while (first.getState() != Thread.State.TIMED_WAITING
        || second.getState() != Thread.State.TIMED_WAITING) {
      Thread.onSpinWait();
    }
    admission.expect(Set.of(address(2)));
    assertThat(members.isOpen()).isFalse();
    assertThat(strangers.isOpen()).isTrue();
    first.interrupt();
    second.interrupt();
    first.join();
    second.join();
    assertThat(strangers.isOpen()).isFalse();
    SocketChannel late = channel();
    admission.closeAfter(Duration.ofDays(1), late, address(2));
    assertThat(late.isOpen()).as("of a member, at once").isFalse();
  }

  private SocketChannel channel() throws IOException {
    SocketChannel channel = SocketChannel.open();
    opened.add(channel);
    return channel;
  }

  private static InetAddress address(int number) {
    try {
      return InetAddress.getByAddress(new byte[] {10, 0, 0, (byte) number});
    } catch (UnknownHostException e) {
      throw new UncheckedIOException(e);
    }
  }
}
