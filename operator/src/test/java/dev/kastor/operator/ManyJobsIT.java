package dev.kastor.operator;

import static dev.kastor.operator.TestBench.NAMESPACE;
import static dev.kastor.operator.TestBench.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.kube.JobRecords;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.quarkus.arc.Arc;
import io.quarkus.arc.InjectableBean;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.enterprise.inject.Any;
import jakarta.enterprise.inject.spi.Bean;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Memory of the operator after many jobs that are gone.
 *
 * <p>The mock server, unlike Kubernetes, does not tell a watch that broke off what it missed. On a
 * machine that does much else a watch may break off; then jobs stay in the cache, and the failure
 * says how many.
 */
// What the test waits for is there; a null would fail it as it should.
@NullUnmarked
@QuarkusTest
@QuarkusTestResource(FakeApiServer.class)
@Tag("nightly")
class ManyJobsIT {
  private static final int JOBS = Integer.getInteger("kastor.manyJobs", 2000);

  /** Entries that a bounded collection may keep: more would follow the jobs that there were. */
  private static final int MOST = 1500;

  private static final int AT_ONCE = 8;

  @Inject JobRecords records;
  @Inject ClusterCache cache;

  private final KubernetesClient client = FakeApiServer.client();

  @Test
  void jobsThatAreGoneLeaveNothing() throws Exception {
    each(number -> new TestBench("many-" + number).program(""));
    for (int begun = records.size(); begun < JOBS; begun = records.size()) {
      int before = begun;
      await("more than %d records are begun".formatted(before), () -> records.size() > before);
    }
    each(number ->
        client
            .resources(TrainingJob.class)
            .inNamespace(NAMESPACE)
            .withName("many-" + number)
            .delete());
    // All of them take their time: each minute there must be fewer.
    for (int left = records.size(); left > 0; left = records.size()) {
      int before = left;
      await(
          "fewer than %d records are left (jobs in the cache: %d)"
              .formatted(before, cache.jobs().size()),
          () -> records.size() < before);
    }
    await("no collection is larger than its bound: " + held(), () -> held().isEmpty());
  }

  private interface Work {
    void of(int number);
  }

  private static void each(Work work) throws Exception {
    try (ExecutorService threads = Executors.newFixedThreadPool(AT_ONCE)) {
      threads
          .invokeAll(
              IntStream.range(0, JOBS)
                  .mapToObj(number -> Executors.callable(() -> work.of(number)))
                  .toList())
          .forEach(done -> assertThat(done).succeedsWithin(Duration.ZERO));
    }
  }

  /** Collections in the fields of all beans of the operator, and of the objects that they hold. */
  private static Map<String, Integer> held() {
    Map<String, Integer> large = new HashMap<>();
    Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    int beans = 0;
    for (Bean<?> bean :
        Arc.container().beanManager().getBeans(Object.class, Any.Literal.INSTANCE)) {
      if (bean.getBeanClass().getName().startsWith("dev.kastor.operator")
          && bean.getScope() == Singleton.class) {
        beans++;
        look(Arc.container().instance((InjectableBean<?>) bean).get(), large, seen);
      }
    }
    assertThat(beans).as("beans looked at").isGreaterThan(20);
    return large;
  }

  private static void look(Object object, Map<String, Integer> large, Set<Object> seen) {
    if (object == null || !seen.add(object)) {
      return;
    }
    for (Class<?> type = object.getClass();
        type != null && type.getName().startsWith("dev.kastor");
        type = type.getSuperclass()) {
      for (Field field : type.getDeclaredFields()) {
        if (Modifier.isStatic(field.getModifiers()) || field.getType().isPrimitive()) {
          continue;
        }
        Object value = value(field, object);
        int size =
            switch (value) {
              case Map<?, ?> map -> map.size();
              case Collection<?> all -> all.size();
              case null, default -> 0;
            };
        if (size > MOST) {
          large.put(type.getSimpleName() + "." + field.getName(), size);
        }
        look(value, large, seen);
      }
    }
  }

  private static Object value(Field field, Object object) {
    try {
      field.setAccessible(true);
      return field.get(object);
    } catch (IllegalAccessException e) {
      throw new AssertionError(e);
    }
  }
}
