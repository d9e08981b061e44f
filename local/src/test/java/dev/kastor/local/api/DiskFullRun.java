package dev.kastor.local.api;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.local.SmallDisk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;

/**
 * Program that fills a small disk at random moments while a server on it takes writes, and compares
 * what the server and its next start know with what was accepted.
 */
final class DiskFullRun {
  private static final ResourceType TYPE = ResourceTypes.CONFIG_MAP;
  private static final int MOST_OBJECTS = 40;

  private final Path folder;
  private final Random random;
  private final TreeMap<String, String> accepted = new TreeMap<>();
  private ApiServer server;
  private int written;
  private int refused;
  private int restarts;

  private DiskFullRun(Path folder, long seed) throws IOException {
    this.folder = folder;
    random = new Random(seed);
    server = start();
  }

  /** Arguments: a folder on a disk of its own, the seed, the number of moments. */
  public static void main(String[] arguments) throws IOException {
    DiskFullRun run = new DiskFullRun(Path.of(arguments[0]), Long.parseLong(arguments[1]));
    int moments = Integer.parseInt(arguments[2]);
    try {
      for (int moment = 0; moment < moments; moment++) {
        run.moment(moment);
      }
    } finally {
      run.server.close();
    }
    System.out.printf(
        "moments=%d written=%d refused=%d restarts=%d%n",
        moments, run.written, run.refused, run.restarts);
  }

  private ApiServer start() throws IOException {
    ApiServer fresh = ApiServer.start(0, (namespace, pod) -> folder.resolve(pod));
    fresh.persist(folder.resolve("objects.jsonl"), TYPE::equals);
    return fresh;
  }

  private void moment(int moment) throws IOException {
    write(random.nextInt(30), false);
    Path filler = SmallDisk.fill(folder, random.nextInt(4));
    write(1 + random.nextInt(20), true);
    if (random.nextInt(4) == 0) {
      // What a kill leaves is what is in the file: nothing is written when a server closes.
      server.close();
      server = start();
      restarts++;
      compare("after a start on a full disk, moment " + moment);
      write(random.nextInt(5), true);
    }
    Files.delete(filler);
    compare("moment " + moment);
    write(1, false);
    if (random.nextInt(4) == 0) {
      server.close();
      server = start();
      restarts++;
      compare("after a start, moment " + moment);
    }
  }

  private void write(int times, boolean mayBeRefused) {
    for (int i = 0; i < times; i++) {
      String name = "object-" + random.nextInt(MOST_OBJECTS);
      String value = random.nextInt() + "v".repeat(random.nextInt(6000));
      boolean delete = random.nextInt(3) == 0;
      try {
        write(name, value, delete);
        written++;
      } catch (ApiException e) {
        if (!mayBeRefused || e.code() != 507) {
          throw e;
        }
        refused++;
      }
      compare("write " + (written + refused));
    }
  }

  private void write(String name, String value, boolean delete) {
    Resources resources = server.resources();
    if (!accepted.containsKey(name)) {
      resources.create(TYPE, "default", object(name, value), Options.PLAIN);
      accepted.put(name, value);
    } else if (delete) {
      resources.delete(TYPE, "default", name, Deletion.DEFAULT);
      accepted.remove(name);
    } else {
      resources.update(TYPE, "default", name, object(name, value), Options.PLAIN);
      accepted.put(name, value);
    }
  }

  private static ObjectNode object(String name, String value) {
    ObjectNode map = Json.object();
    Json.metadata(map).put("name", name);
    map.putObject("data").put("k", value);
    return map;
  }

  private void compare(String when) {
    TreeMap<String, String> known = new TreeMap<>();
    for (ObjectNode object : server.resources().list(TYPE, "default")) {
      known.put(Json.name(object), object.at("/data/k").asText());
    }
    if (!known.equals(accepted)) {
      List<String> lost = new ArrayList<>(accepted.keySet());
      lost.removeAll(known.keySet());
      List<String> back = new ArrayList<>(known.keySet());
      back.removeAll(accepted.keySet());
      throw new IllegalStateException(
          "%s: accepted and lost: %s; deleted or refused and there: %s; others differ"
              .formatted(when, lost, back));
    }
  }
}
