package dev.kastor.operator.web;

/** What one who looks at the page may see: the TrainingJobs of some namespaces. */
interface Viewer {
  /** Sees everything: whoever reaches a page that asks nobody who he is. */
  Viewer ANYONE =
      new Viewer() {
        @Override
        public boolean seesAll() {
          return true;
        }

        @Override
        public boolean lists(String namespace) {
          return true;
        }

        @Override
        public boolean gets(String namespace) {
          return true;
        }
      };

  /** Whether he may list the TrainingJobs of all namespaces, and so know the whole cluster. */
  boolean seesAll();

  /** Whether he may list the TrainingJobs of a namespace. */
  boolean lists(String namespace);

  /** Whether he may read single TrainingJobs of a namespace. */
  boolean gets(String namespace);
}
