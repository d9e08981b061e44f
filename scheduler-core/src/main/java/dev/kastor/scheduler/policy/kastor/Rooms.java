package dev.kastor.scheduler.policy.kastor;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.QuotaAccount;
import dev.kastor.scheduler.plan.Quotas;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * How much room the quotas of queues leave to bids. A draft takes room as it is made and gives it
 * back when it is done, so that another one may be tried. Owned by one planning call.
 */
final class Rooms {
  /** No queue has a quota. */
  static final Rooms NONE = new Rooms(Map.of());

  /** A queue with a quota, and the bids of its jobs that are open. */
  static final class Room {
    final QuotaAccount account;
    final List<Bid> bids = new ArrayList<>();
    private int taken;
    private int held;

    Room(QuotaAccount account) {
      this.account = account;
    }

    /** Whether its jobs hold less than before; once all that they get is taken. */
    boolean fell() {
      return account.used() < held;
    }
  }

  private final Map<String, Room> rooms;

  private Rooms(Map<String, Room> rooms) {
    this.rooms = rooms;
  }

  /** The rooms of all queues with a quota, with nothing taken. */
  static Rooms of(Snapshot snapshot) {
    Quotas quotas = Quotas.of(snapshot);
    if (quotas.none()) {
      return NONE;
    }
    Map<String, Room> rooms = new TreeMap<>();
    quotas.all().forEach(account -> rooms.put(account.queue().name(), new Room(account)));
    for (JobState job : snapshot.jobs()) {
      Room room = rooms.get(job.spec().queue());
      if (room != null) {
        room.held += job.allocation().slots();
      }
    }
    return new Rooms(rooms);
  }

  boolean none() {
    return rooms.isEmpty();
  }

  Collection<Room> all() {
    return rooms.values();
  }

  /** The rooms by cohort; each queue of none is on its own. */
  List<List<Room>> cohorts() {
    SequencedMap<String, List<Room>> cohorts = new TreeMap<>();
    List<List<Room>> all = new ArrayList<>();
    for (Room room : rooms.values()) {
      String cohort = room.account.queue().cohort();
      if (cohort.isEmpty()) {
        all.add(List.of(room));
      } else {
        cohorts.computeIfAbsent(cohort, name -> new ArrayList<>()).add(room);
      }
    }
    all.addAll(cohorts.values());
    return all;
  }

  /** The room of a job's queue; null if it has no quota. */
  @Nullable Room of(Bid bid) {
    return rooms.isEmpty() ? null : rooms.get(bid.job.spec().queue());
  }

  /** A bid keeps what its job holds, whatever comes. */
  void fix(Bid bid) {
    Room room = of(bid);
    if (room != null) {
      room.account.take(bid.job.allocation().slots());
    }
  }

  /** Whether a bid may keep what its job holds, whatever others claim. */
  boolean leaves(Bid bid) {
    Room room = of(bid);
    return room == null || bid.job.allocation().slots() <= room.account.room();
  }

  /** What open bids may ask for, now that all that is fixed is known. */
  void open(List<Bid> bids) {
    for (Bid bid : bids) {
      Room room = of(bid);
      if (room != null) {
        room.bids.add(bid);
        bid.room = room;
      }
    }
    // As far as limits go: what others want is for the market to say.
    unclaimed();
    for (Room room : all()) {
      int most = room.account.room();
      room.bids.forEach(bid -> bid.mostSlots = most);
    }
  }

  /** Each queue claims all that its jobs could ever use of its quota. */
  void claimMost(List<Bid> bids) {
    for (Room room : all()) {
      room.account.claim(0);
    }
    for (Bid bid : bids) {
      Room room = of(bid);
      if (room != null) {
        int most = 0;
        for (int slots : bid.offers.slots()) {
          most = Math.max(most, slots);
        }
        room.account.claim(Math.min(room.account.nominal(), room.account.claimed() + most));
      }
    }
  }

  /** Each queue claims of its quota what its bids take where the quota costs them nothing. */
  void claim(double[] price) {
    for (Room room : all()) {
      long wanted = room.account.used();
      for (Bid bid : room.bids) {
        int best = Shares.best(bid, price, 0);
        wanted += best < 0 ? 0 : bid.offers.slots()[best];
      }
      room.account.claim((int) Math.min(wanted, room.account.nominal()));
    }
  }

  /** Nobody claims anything. */
  void unclaimed() {
    rooms.values().forEach(room -> room.account.claim(0));
  }

  /** What each claims, to be claimed again after {@link #unclaimed}. */
  int[] claims() {
    return rooms.values().stream().mapToInt(room -> room.account.claimed()).toArray();
  }

  void claimAgain(int[] claims) {
    int r = 0;
    for (Room room : rooms.values()) {
      room.account.claim(claims[r++]);
    }
  }

  /** Whether a bid may get so many slots more. */
  static boolean fits(Bid bid, int slots) {
    return bid.room == null || slots <= 0 || slots <= bid.room.account.room();
  }

  /** A bid gets slots, or gives them back if negative. */
  static void take(Bid bid, int slots) {
    if (bid.room != null) {
      bid.room.taken += slots;
      bid.room.account.take(slots);
    }
  }

  /** What open bids have taken so far, to come back to. */
  int[] mark() {
    return rooms.values().stream().mapToInt(room -> room.taken).toArray();
  }

  /** Gives back what was taken since. */
  void reset(int[] mark) {
    int r = 0;
    for (Room room : rooms.values()) {
      room.account.take(mark[r] - room.taken);
      room.taken = mark[r++];
    }
  }

  /** Whether nobody has more than it may. */
  boolean kept() {
    for (Room room : all()) {
      if (room.account.room() < 0 && room.taken > 0) {
        return false;
      }
    }
    return true;
  }

  /** How much of all claims these allocations meet. */
  long met(List<Bid> open, Map<Integer, Allocation> allocations) {
    int[] before = mark();
    for (Bid bid : open) {
      take(bid, allocations.getOrDefault(bid.index, Allocation.NONE).slots());
    }
    long met = 0;
    for (Room room : all()) {
      met += Math.min(room.account.claimed(), room.account.used());
    }
    reset(before);
    return met;
  }
}
