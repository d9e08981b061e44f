package dev.kastor.e2e.watch;

import java.util.List;

/** Something that always holds; it may remember what it saw before. One thread at a time. */
interface Rule {
  /** What breaks it now. */
  List<Finding> broken(World world);
}
