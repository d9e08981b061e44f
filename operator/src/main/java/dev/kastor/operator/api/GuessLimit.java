package dev.kastor.operator.api;

import java.time.InstantSource;

/**
 * Bound on the tokens that are reviewed in vain, by who shows them: each costs the API server a
 * request.
 *
 * <p>A guess is counted before it is reviewed, so that many at once are no way around, and given
 * back if it was none. Behind one address there may be many: all replicas of a laptop, all viewers
 * behind a forwarded port. So whoever a token says that it is for has an allowance of its own
 * within that of the address, and one whose token was good lately is not held up by what others
 * behind the address do. Claims are not verified; they choose an allowance, never an answer.
 * Thread-safe.
 */
final class GuessLimit {
  private static final double SUBJECT_PER_SECOND = 5;
  private static final int SUBJECT_AT_ONCE = 50;
  private static final double ADDRESS_PER_SECOND = 20;
  private static final int ADDRESS_AT_ONCE = 200;

  private final Pace subjects;
  private final Pace addresses;

  GuessLimit(InstantSource clock) {
    subjects = new Pace(clock, SUBJECT_PER_SECOND, SUBJECT_AT_ONCE);
    addresses = new Pace(clock, ADDRESS_PER_SECOND, ADDRESS_AT_ONCE);
  }

  /**
   * A token that nobody knows yet.
   *
   * @param subject hash of whom it says that it is for, at that address
   * @param known whether another one of its subject was good lately
   */
  record Guess(String address, String subject, boolean known) {}

  /** Counts a guess; false if that was one too many, which is not counted. */
  boolean take(Guess guess) {
    if (!subjects.take(guess.subject())) {
      return false;
    }
    if (guess.known() || addresses.take(guess.address())) {
      return true;
    }
    subjects.giveBack(guess.subject());
    return false;
  }

  /** The token was good, or nobody could be asked: it was no guess. */
  void giveBack(Guess guess) {
    subjects.giveBack(guess.subject());
    if (!guess.known()) {
      addresses.giveBack(guess.address());
    }
  }
}
