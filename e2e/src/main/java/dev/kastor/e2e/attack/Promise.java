package dev.kastor.e2e.attack;

import java.util.concurrent.Callable;

/**
 * Statement that must be true while a strategy is at work.
 *
 * @param what the statement, in words
 * @param rounds whether it is about what the operator does in its next rounds, and so is looked at
 *     when one has passed and may take its time to come true
 * @param kept how it is looked up
 */
record Promise(String what, boolean rounds, Callable<Boolean> kept) {
  /** One that is true or not at once. */
  static Promise now(String what, Callable<Boolean> kept) {
    return new Promise(what, false, kept);
  }

  /** One that is true once a round has passed. */
  static Promise inARound(String what, Callable<Boolean> kept) {
    return new Promise(what, true, kept);
  }
}
