package dev.kastor.cli.doctor;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.kastor.cli.terminal.Ink;
import org.jspecify.annotations.Nullable;

/**
 * What one look of the doctor found.
 *
 * @param name what was looked at; stable
 * @param level how it is
 * @param message what was found
 * @param remedy what to do; absent where nothing is to be done
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record Check(String name, Level level, String message, @Nullable String remedy) {
  /** How it is. */
  enum Level {
    @JsonProperty("ok")
    OK,
    @JsonProperty("warn")
    WARN,
    @JsonProperty("fail")
    FAIL;

    /** As the table shows it. */
    String shown() {
      return switch (this) {
        case OK -> Ink.GREEN.on("ok");
        case WARN -> Ink.YELLOW.on("warn");
        case FAIL -> Ink.RED.on("fail");
      };
    }
  }

  static Check ok(String name, String message) {
    return new Check(name, Level.OK, message, null);
  }

  static Check warn(String name, String message, String remedy) {
    return new Check(name, Level.WARN, message, remedy);
  }

  static Check fail(String name, String message, String remedy) {
    return new Check(name, Level.FAIL, message, remedy);
  }
}
