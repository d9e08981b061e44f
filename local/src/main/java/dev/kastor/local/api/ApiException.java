package dev.kastor.local.api;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/** A refusal in the words of a Kubernetes server: an HTTP code, a reason and a message. */
public final class ApiException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final int code;
  private final String reason;
  private final transient List<FieldError> causes;

  private ApiException(int code, String reason, String message, List<FieldError> causes) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.causes = List.copyOf(causes);
  }

  static ApiException of(int code, String reason, String message) {
    return new ApiException(code, reason, message, List.of());
  }

  static ApiException badRequest(String message) {
    return of(400, "BadRequest", message);
  }

  static ApiException notFound(ResourceType type, String name) {
    return of(404, "NotFound", "%s \"%s\" not found".formatted(type.qualified(), name));
  }

  static ApiException alreadyExists(ResourceType type, String name) {
    return of(409, "AlreadyExists", "%s \"%s\" already exists".formatted(type.qualified(), name));
  }

  static ApiException conflict(ResourceType type, String name, String why) {
    return of(
        409,
        "Conflict",
        "Operation cannot be fulfilled on %s \"%s\": %s".formatted(type.qualified(), name, why));
  }

  static ApiException invalid(ResourceType type, String name, List<FieldError> errors) {
    List<String> lines = errors.stream().map(FieldError::line).toList();
    String joined = lines.size() == 1 ? lines.getFirst() : lines.toString();
    return new ApiException(
        422,
        "Invalid",
        "%s \"%s\" is invalid: %s".formatted(type.qualifiedKind(), name, joined),
        errors);
  }

  /** The HTTP status code. */
  public int code() {
    return code;
  }

  /** The {@code Status} object that a client receives. */
  ObjectNode status() {
    ObjectNode status = Json.object();
    status.put("kind", "Status").put("apiVersion", "v1");
    status.putObject("metadata");
    status.put("status", "Failure").put("message", getMessage()).put("reason", reason);
    if (!causes.isEmpty()) {
      ArrayNode list = status.putObject("details").putArray("causes");
      for (FieldError cause : causes) {
        list.addObject()
            .put("reason", cause.reason())
            .put("message", cause.message())
            .put("field", cause.field());
      }
    }
    return status.put("code", code);
  }
}
