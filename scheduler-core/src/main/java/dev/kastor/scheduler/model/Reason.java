package dev.kastor.scheduler.model;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.SequencedMap;

/**
 * Why a job gets what it gets.
 *
 * @param code one CamelCase word, stable, fit for a Kubernetes event
 * @param message one sentence for a person
 * @param numbers the numbers that decided it, by name with unit
 */
public record Reason(String code, String message, SequencedMap<String, Double> numbers) {
  public Reason {
    numbers = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(numbers));
  }

  public static Reason of(String code, String message) {
    return new Reason(code, message, new LinkedHashMap<>());
  }
}
