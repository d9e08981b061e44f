package dev.kastor.local.api;

import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The parameters of a request. */
record Query(Map<String, String> values) {
  static Query of(URI uri) {
    Map<String, String> values = new HashMap<>();
    String raw = uri.getRawQuery();
    if (raw != null) {
      for (String pair : raw.split("&", -1)) {
        int equals = pair.indexOf('=');
        String key = equals < 0 ? pair : pair.substring(0, equals);
        String value = equals < 0 ? "" : pair.substring(equals + 1);
        values.put(decode(key), decode(value));
      }
    }
    return new Query(Map.copyOf(values));
  }

  @Nullable String get(String name) {
    return values.get(name);
  }

  boolean is(String name) {
    String value = values.get(name);
    return value != null && (value.equals("true") || value.equals("1") || value.isEmpty());
  }

  long number(String name, long otherwise) {
    String value = values.get(name);
    if (value == null || value.isEmpty()) {
      return otherwise;
    }
    try {
      return Long.parseLong(value);
    } catch (NumberFormatException e) {
      throw ApiException.badRequest("%s must be a whole number but is '%s'".formatted(name, value));
    }
  }

  private static String decode(String text) {
    return URLDecoder.decode(text, StandardCharsets.UTF_8);
  }
}
