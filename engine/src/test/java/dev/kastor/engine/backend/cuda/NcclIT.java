package dev.kastor.engine.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** Sums between GPUs by a library of ours in NCCL's place, through JCuda's real binding. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class NcclIT {
  private static final int CAPACITY = 1000;

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private FakeDriver driver;
  private FakeNccl library;
  private int memoryBefore;
  private long streamsBefore;

  @BeforeAll
  void install(@TempDir Path folder) throws Exception {
    assumeThat(Path.of("/proc/driver/nvidia")).as("a driver of NVIDIA's").doesNotExist();
    driver = FakeDriver.install(folder);
    assertThat(GpuCheck.look()).isInstanceOf(GpuCheck.Found.Devices.class);
  }

  @BeforeEach
  void begin() {
    library = new FakeNccl(driver);
    memoryBefore = driver.memory.size();
    streamsBefore = driver.streams();
  }

  @AfterEach
  void nothingIsLeft() {
    assertThat(library.alive()).as("communicators").isZero();
    assertThat(driver.memory).hasSize(memoryBefore);
    assertThat(driver.streams()).isEqualTo(streamsBefore);
  }

  private Nccl open() {
    return Nccl.open(library.library(), 0, CAPACITY);
  }

  private List<GpuGroups.Group> join(GpuGroups groups, int size) throws Exception {
    byte[] id = groups.newId();
    List<Future<GpuGroups.Group>> joining = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      int rank = i;
      joining.add(threads.submit(() -> groups.join(id, rank, size, () -> false)));
    }
    List<GpuGroups.Group> joined = new ArrayList<>();
    for (Future<GpuGroups.Group> each : joining) {
      joined.add(each.get());
    }
    return joined;
  }

  @Test
  void sumsPartsOfVectorsAgainAndAgain() throws Exception {
    List<GpuGroups.Group> members = join(open(), 3);
    List<Future<float[]>> summing = new ArrayList<>();
    for (int i = 0; i < members.size(); i++) {
      int rank = i;
      summing.add(
          threads.submit(() -> {
            float[] data = new float[2500];
            for (int at = 0; at < data.length; at++) {
              data[at] = at + 1000 * rank;
            }
            for (int end = data.length; end > 1; end -= CAPACITY) {
              members.get(rank).sum(data, Math.max(1, end - CAPACITY), end, () -> false);
            }
            return data;
          }));
    }
    for (int rank = 0; rank < members.size(); rank++) {
      float[] sums = summing.get(rank).get();
      assertThat(sums[0]).as("not in any part").isEqualTo(1000 * rank);
      for (int at = 1; at < sums.length; at++) {
        assertThat(sums[at]).isEqualTo(3 * at + 3000);
      }
    }
    members.forEach(GpuGroups.Group::close);
    members.forEach(GpuGroups.Group::close);
    assertThatIllegalStateException()
        .isThrownBy(() -> members.getFirst().sum(new float[1], 0, 1, () -> false))
        .withMessage("The group is closed.");
  }

  @Test
  void aSumThatSomebodyDoesNotComeToCanBeGivenUp() throws Exception {
    List<GpuGroups.Group> members = join(open(), 2);
    int[] polls = new int[1];
    assertThatIllegalStateException()
        .isThrownBy(() -> members.getFirst().sum(new float[5], 0, 5, () -> polls[0]++ == 20))
        .withMessage("A sum did not end: it was given up.");
    members.forEach(GpuGroups.Group::close);
  }

  @Test
  void whoeverIsInterruptedDoesNotWait() throws Exception {
    List<GpuGroups.Group> members = join(open(), 2);
    Future<?> summing =
        threads.submit(() -> {
          Thread.currentThread().interrupt();
          members.getFirst().sum(new float[5], 0, 5, () -> false);
        });
    assertThat(failure(summing)).isInstanceOf(IllegalStateException.class);
    members.forEach(GpuGroups.Group::close);
  }

  private static Throwable failure(Future<?> of) throws InterruptedException {
    try {
      of.get();
      throw new AssertionError("It did not fail.");
    } catch (ExecutionException e) {
      return Objects.requireNonNull(e.getCause());
    }
  }

  @Test
  void aMemberThatFailedIsToldOf() throws Exception {
    List<GpuGroups.Group> members = join(open(), 2);
    library.remoteError = true;
    assertThatIllegalStateException()
        .isThrownBy(() -> members.getFirst().sum(new float[5], 0, 5, () -> false))
        .withMessage("The group says remote process exited.");
    members.forEach(GpuGroups.Group::close);
  }

  @Test
  void aGroupThatDoesNotFormLeavesNothing() {
    Nccl nccl = open();
    int[] polls = new int[1];
    assertThatIllegalStateException()
        .isThrownBy(() -> nccl.join(nccl.newId(), 0, 2, () -> polls[0]++ == 20))
        .withMessage("The group did not form: it was given up.");
    library.joining = 4;
    assertThatIllegalStateException()
        .isThrownBy(() -> nccl.join(nccl.newId(), 0, 2, () -> false))
        .withMessage("ncclCommInitRankConfig says invalid argument.");
  }

  @Test
  void wrongUseIsToldWithItsNumbers() throws Exception {
    List<GpuGroups.Group> members = join(open(), 1);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> members.getFirst().sum(new float[2000], 0, 2000, () -> false))
        .withMessage("2000 elements to sum; at most 1000 are allowed");
    members.forEach(GpuGroups.Group::close);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> open().join(new byte[3], 0, 1, () -> false))
        .withMessage("An id has 128 bytes, got 3.");
  }

  @Test
  void aLibraryOfNoUseIsToldOf() {
    assertThat(Nccl.describe(library.library())).isEqualTo("NCCL 2.27.3 (libnccl.so.2)");
    library.version = 2708;
    assertThatIllegalStateException()
        .isThrownBy(this::open)
        .withMessage("libnccl.so.2 is NCCL 2.7.8, and 2.14 is needed.");
    library.missing = "ncclCommAbort";
    assertThat(Nccl.describe(library.library()))
        .isEqualTo("libnccl.so.2 (of no use: ncclCommAbort is missing.)");
  }

  @Test
  void withoutTheLibraryItSaysWhereToPutIt() {
    assumeThat(Nccl.find()).as("a library of NVIDIA's").isNull();
    assertThat(Nccl.load(0))
        .isInstanceOfSatisfying(
            Nccl.Availability.Absent.class,
            absent ->
                assertThat(absent.reason()).contains("libnccl.so.2", "KASTOR_CUDA_LIBRARIES"));
  }
}
