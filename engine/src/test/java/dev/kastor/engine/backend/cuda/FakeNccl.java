package dev.kastor.engine.backend.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * NCCL as far as we call it, over the memory and streams of a {@link FakeDriver}: threads stand for
 * processes. As with the real one, a group forms and a sum ends once all members have come, and
 * nobody hears of one that does not.
 */
@SuppressWarnings({"restricted", "UnusedMethod", "UnusedVariable"}) // Called by native code.
final class FakeNccl {
  private static final int SUCCESS = 0;
  private static final int INVALID_ARGUMENT = 4;
  private static final int REMOTE_ERROR = 6;
  private static final int IN_PROGRESS = 7;
  private static final int ID_BYTES = 128;

  int version = 22_703;
  String missing = "";

  /** Whether groups learn that somebody else has failed. */
  volatile boolean remoteError;

  /** What a member is told that wants to join. */
  volatile int joining = SUCCESS;

  private final FakeDriver driver;
  private final Map<Long, Member> members = new HashMap<>();
  private final Map<Long, Group> groups = new HashMap<>();
  private final AtomicInteger ids = new AtomicInteger();
  private long nextMember = 0x7000;

  private static final class Group {
    private final Map<Integer, Member> joined = new TreeMap<>();
    private final Map<Integer, Map<Integer, float[]>> rounds = new HashMap<>();
    private final int size;

    Group(int size) {
      this.size = size;
    }
  }

  private static final class Member {
    private final Group group;
    private final int rank;
    private int rounds;
    private boolean aborted;

    Member(Group group, int rank) {
      this.group = group;
      this.rank = rank;
    }
  }

  FakeNccl(FakeDriver driver) {
    this.driver = driver;
  }

  /** As a library that was found. */
  NativeLibrary library() {
    return FakeLibrary.of(this, MethodHandles.lookup()::unreflect, "libnccl.so.2", "nccl", missing);
  }

  /** Communicators that nobody ended. */
  synchronized int alive() {
    return members.size();
  }

  private int ncclGetVersion(MemorySegment at) {
    at.reinterpret(Integer.BYTES).set(JAVA_INT, 0, version);
    return SUCCESS;
  }

  private MemorySegment ncclGetErrorString(int status) {
    return Arena.global()
        .allocateFrom(status == REMOTE_ERROR ? "remote process exited" : "invalid argument");
  }

  private int ncclGetUniqueId(MemorySegment at) {
    byte[] id = new byte[ID_BYTES];
    // All of it counts.
    ByteBuffer.wrap(id).putLong(ID_BYTES - Long.BYTES, ids.incrementAndGet());
    MemorySegment.copy(id, 0, at.reinterpret(ID_BYTES), JAVA_BYTE, 0, ID_BYTES);
    return SUCCESS;
  }

  private synchronized int ncclCommInitRankConfig(
      MemorySegment made,
      int size,
      @FakeLibrary.UniqueId MemorySegment id,
      int rank,
      MemorySegment config) {
    MemorySegment how = config.reinterpret(24);
    if (how.get(JAVA_LONG, 0) != 24
        || how.get(JAVA_INT, 8) != 0xcafebeef
        || how.get(JAVA_INT, 12) != 21_400
        || how.get(JAVA_INT, 16) != 0
        || rank < 0
        || rank >= size) {
      return INVALID_ARGUMENT;
    }
    if (joining != SUCCESS) {
      return joining;
    }
    long key = id.asByteBuffer().getLong(ID_BYTES - Long.BYTES);
    Group group = groups.computeIfAbsent(key, _ -> new Group(size));
    Member member = new Member(group, rank);
    if (group.size != size || group.joined.put(rank, member) != null) {
      return INVALID_ARGUMENT;
    }
    nextMember += 16;
    members.put(nextMember, member);
    made.reinterpret(ADDRESS.byteSize()).set(JAVA_LONG, 0, nextMember);
    return IN_PROGRESS;
  }

  private synchronized int ncclCommGetAsyncError(MemorySegment of, MemorySegment status) {
    Member member = members.get(of.address());
    if (member == null) {
      return INVALID_ARGUMENT;
    }
    boolean formed = member.group.joined.size() == member.group.size;
    int state = formed ? SUCCESS : IN_PROGRESS;
    status.reinterpret(Integer.BYTES).set(JAVA_INT, 0, remoteError ? REMOTE_ERROR : state);
    return SUCCESS;
  }

  private int ncclAllReduce(
      long from, long to, long count, int type, int operation, MemorySegment of, long stream) {
    Sum sum;
    synchronized (this) {
      Member member = members.get(of.address());
      if (member == null || type != 7 || operation != 0) {
        return INVALID_ARGUMENT;
      }
      sum = new Sum(member, member.rounds++, from, to, Math.toIntExact(count));
    }
    // Streams ask sums whether they are ready: who holds this lock must not want that of the
    // streams.
    return driver.enqueue(stream, sum) == 0 ? SUCCESS : INVALID_ARGUMENT;
  }

  private synchronized int ncclCommAbort(MemorySegment of) {
    Member member = members.remove(of.address());
    if (member == null) {
      return INVALID_ARGUMENT;
    }
    member.aborted = true;
    return SUCCESS;
  }

  /** One member's part in a sum. */
  private final class Sum implements FakeStreams.Pending {
    private final Member member;
    private final int round;
    private final long from;
    private final long to;
    private final int count;

    Sum(Member member, int round, long from, long to, int count) {
      this.member = member;
      this.round = round;
      this.from = from;
      this.to = to;
      this.count = count;
    }

    private Map<Integer, float[]> parts() {
      return member.group.rounds.computeIfAbsent(round, _ -> new TreeMap<>());
    }

    @Override
    public boolean ready() {
      synchronized (FakeNccl.this) {
        parts()
            .computeIfAbsent(
                member.rank, _ -> driver.at(from, Float.BYTES * count).toArray(JAVA_FLOAT));
        return member.aborted || parts().size() == member.group.size;
      }
    }

    @Override
    public void run() {
      synchronized (FakeNccl.this) {
        if (!ready() || member.aborted) {
          return;
        }
        float[] sums = new float[count];
        for (float[] part : parts().values()) {
          for (int i = 0; i < count; i++) {
            sums[i] += part[i];
          }
        }
        driver.at(to, Float.BYTES * count).copyFrom(MemorySegment.ofArray(sums));
      }
    }
  }
}
