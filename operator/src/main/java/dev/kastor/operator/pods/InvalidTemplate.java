package dev.kastor.operator.pods;

/** A template that no pod can be made of; the message begins with the path of the field. */
public final class InvalidTemplate extends Exception {
  private static final long serialVersionUID = 1;

  public InvalidTemplate(String message) {
    super(message);
  }
}
