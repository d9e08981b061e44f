package dev.kastor.operator.kube;

import io.fabric8.kubernetes.api.model.Condition;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Makes small what is kept by the ten thousand: an object of the client library has an own list or
 * map for everything that it could have, and an own text for each that it shares with all others.
 *
 * <p>Nobody may change the collections of an object that went through here.
 */
public final class Lean {
  private static final String UNKNOWN = "additionalProperties";

  private static final ClassValue<List<Field>> COLLECTIONS =
      new ClassValue<>() {
        @Override
        protected List<Field> computeValue(Class<?> type) {
          List<Field> collections = new ArrayList<>();
          for (Field field : type.getDeclaredFields()) {
            boolean own = !Modifier.isStatic(field.getModifiers());
            if (own && (field.getType() == List.class || field.getType() == Map.class)) {
              field.setAccessible(true);
              collections.add(field);
            }
          }
          return List.copyOf(collections);
        }
      };

  private Lean() {}

  /** The condition, with texts that are those of all others. */
  public static Condition condition(Condition condition) {
    condition.setType(same(condition.getType()));
    condition.setStatus(same(condition.getStatus()));
    condition.setReason(same(condition.getReason()));
    condition.setMessage(same(condition.getMessage()));
    condition.setLastTransitionTime(same(condition.getLastTransitionTime()));
    return withoutEmpties(condition);
  }

  /** The object, whose empty lists and maps are the same two for all. */
  static <T> T withoutEmpties(T object) {
    COLLECTIONS.get(object.getClass()).forEach(field -> share(object, field));
    return object;
  }

  /** The object, without a map for fields that nobody knows where there are none. */
  static <T> T withoutUnknown(T object) {
    for (Field field : COLLECTIONS.get(object.getClass())) {
      if (field.getName().equals(UNKNOWN)) {
        share(object, field);
      }
    }
    return object;
  }

  private static void share(Object object, Field field) {
    try {
      Object collection = field.get(object);
      if (collection instanceof List<?> list && list.isEmpty()) {
        field.set(object, List.of());
      } else if (collection instanceof Map<?, ?> map && map.isEmpty()) {
        field.set(object, Map.of());
      }
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(field + " was made accessible", e);
    }
  }

  private static @Nullable String same(@Nullable String text) {
    return text == null ? null : text.intern();
  }
}
