package dev.kastor.operator.api;

/** A request that is refused, with its HTTP status and a short reason for the metrics. */
public final class ApiException extends Exception {
  private static final long serialVersionUID = 1;

  private final int status;
  private final String reason;

  ApiException(int status, String reason, String message) {
    super(message, null, false, false);
    this.status = status;
    this.reason = reason;
  }

  /** The HTTP status. */
  public int status() {
    return status;
  }

  String reason() {
    return reason;
  }

  static ApiException badRequest(String message) {
    return new ApiException(400, "body", message);
  }

  /** The caller is not known. */
  public static ApiException unauthorized(String message) {
    return new ApiException(401, "token", message);
  }

  /** The caller is known and may not. */
  public static ApiException forbidden(String message) {
    return new ApiException(403, "identity", message);
  }

  static ApiException notFound(String message) {
    return new ApiException(404, "job", message);
  }

  static ApiException conflict(String message) {
    return new ApiException(409, "generation", message);
  }

  static ApiException tooMany(String reason, String message) {
    return new ApiException(429, reason, message);
  }

  static ApiException tooLarge(String message) {
    return new ApiException(413, "size", message);
  }
}
