package dev.kastor.operator.pods;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Comparison of a job's pods of parameter servers with the servers that it is to have.
 *
 * @param kept live pods, one for each index at most, by index
 * @param surplus live pods that are to go
 * @param missing indices of servers whose pods are still to be made. One that was told to stop
 *     saves what the next begins with, and is awaited; one whose pod alone was asked to end, as by
 *     a drain, has saved by then and serves until the next listens
 */
public record ServerRoster(List<ServerPod> kept, List<ServerPod> surplus, List<Integer> missing) {
  public ServerRoster {
    kept = List.copyOf(kept);
    surplus = List.copyOf(surplus);
    missing = List.copyOf(missing);
  }

  /**
   * Matches pods to servers by their index.
   *
   * @param wanted servers that the job is to have, 0 while it has no replicas
   * @param dismissed pods that were told to go: never wanted again
   * @param lost whether nothing runs in a pod any more, whatever is said of it
   */
  public static ServerRoster of(
      int wanted, List<ServerPod> servers, Set<String> dismissed, Predicate<PodView> lost) {
    List<ServerPod> kept = new ArrayList<>();
    List<ServerPod> surplus = new ArrayList<>();
    List<Integer> missing = new ArrayList<>();
    for (int index = 0; index < wanted; index++) {
      int each = index;
      List<ServerPod> own =
          servers.stream()
              .filter(server -> server.index() == each && !lost.test(server.view()))
              .sorted(Comparator.comparingLong(server -> server.view().number()))
              .toList();
      own.stream()
          .filter(server -> server.view().live() && !dismissed.contains(server.name()))
          .findFirst()
          .ifPresent(kept::add);
      if (own.stream().noneMatch(server -> inTheWay(server, dismissed))) {
        missing.add(index);
      }
    }
    servers.stream()
        .filter(server -> server.view().live() && !kept.contains(server))
        .forEach(surplus::add);
    return new ServerRoster(kept, surplus, missing);
  }

  private static boolean inTheWay(ServerPod server, Set<String> dismissed) {
    return server.view().live() || (dismissed.contains(server.name()) && !server.view().ended());
  }
}
