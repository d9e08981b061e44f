package dev.kastor.engine.exec;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/** The states of a session's resources. Thread-safe. */
final class States {
  private final Map<Resource<?>, Object> states = new ConcurrentHashMap<>();

  <S> S state(Resource<S> resource, Supplier<S> first) {
    return resource.kind().cast(states.computeIfAbsent(resource, _ -> first.get()));
  }
}
