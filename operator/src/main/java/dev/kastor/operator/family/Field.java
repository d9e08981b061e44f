package dev.kastor.operator.family;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.Supplier;

/**
 * A value of a JSON document that knows where it stands, so that faults can be named.
 *
 * @param path from the document's root
 * @param value there; a missing node if there is none
 */
record Field(String path, JsonNode value) {
  Field member(String name) {
    return new Field(path + "." + name, value.path(name));
  }

  /** A member that may be missing. */
  Optional<Field> optional(String name) {
    return value.has(name) ? Optional.of(member(name)) : Optional.empty();
  }

  SequencedMap<String, Field> members() {
    if (!value.isObject()) {
      throw fault("must be an object");
    }
    SequencedMap<String, Field> members = new LinkedHashMap<>();
    for (var entry : value.properties()) {
      members.put(
          entry.getKey(),
          new Field("%s[\"%s\"]".formatted(path, entry.getKey()), entry.getValue()));
    }
    return members;
  }

  List<Field> elements() {
    if (!value.isArray()) {
      throw fault("must be a list");
    }
    List<Field> elements = new ArrayList<>();
    for (int i = 0; i < value.size(); i++) {
      elements.add(new Field("%s[%d]".formatted(path, i), value.get(i)));
    }
    return elements;
  }

  List<Field> elements(int count) {
    List<Field> elements = elements();
    if (elements.size() != count) {
      throw fault("must be a list of %d".formatted(count));
    }
    return elements;
  }

  String text() {
    if (!value.isTextual()) {
      throw fault("must be a text");
    }
    return value.asText();
  }

  double number() {
    if (!value.isNumber()) {
      throw fault("must be a number");
    }
    return value.asDouble();
  }

  int integer() {
    if (!value.canConvertToInt() || !value.isIntegralNumber()) {
      throw fault("must be an integer");
    }
    return value.asInt();
  }

  /** What is made of this field; a rule that it breaks is said together with the path. */
  <T> T checked(Supplier<T> made) {
    try {
      return made.get();
    } catch (Fault e) {
      throw e;
    } catch (IllegalArgumentException e) {
      throw new Fault(path + ": " + e.getMessage(), e);
    }
  }

  IllegalArgumentException fault(String rule) {
    return new Fault("%s %s but is %s".formatted(path, rule, shown()), null);
  }

  private String shown() {
    String text = value.isMissingNode() ? "missing" : value.toString();
    return text.length() > 60 ? text.substring(0, 60) + "…" : text;
  }

  /** A fault whose message begins with the path. */
  private static final class Fault extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    Fault(String message, @org.jspecify.annotations.Nullable Throwable cause) {
      super(message, cause);
    }
  }
}
