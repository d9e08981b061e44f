# shellcheck shell=bash
# What the scripts of e2e share. Sourced, never run.

# shellcheck disable=SC2034 # Used by those who source this.
e2e=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${KASTOR_E2E_CACHE:-$HOME/.cache/kastor/e2e}
started=${KASTOR_E2E_STARTED:-$(date +%s)}
export KASTOR_E2E_STARTED=$started

die() {
  printf 'kastor e2e: %s\n' "$@" >&2
  exit 1
}

# Says what is going on, with the seconds since the start.
say() {
  printf '%5ds  %s\n' "$(($(date +%s) - started))" "$*"
}

need() {
  command -v "$1" >/dev/null || die "$1 is needed and not on PATH." "$2"
}

# Makes sure that folder $1 of the cache is there and whole; otherwise makes it by calling the rest of the arguments with
# an empty folder as their last. Who comes second waits for the first; a folder is only renamed into place when complete.
cached() {
  local wanted=$cache/$1 fresh
  shift
  mkdir -p "$cache"
  exec 7>"$wanted.lock"
  if ! flock -n 7; then
    say "waiting for another run that makes $(basename "$wanted")"
    flock 7
  fi
  if [ -f "$wanted/SHA256SUMS" ]; then
    (cd "$wanted" && sha256sum --quiet --check SHA256SUMS >&2) && {
      exec 7>&-
      return 0
    }
    say "$(basename "$wanted") in the cache is damaged and is made again"
    rm -rf "$wanted"
  fi
  fresh=$wanted.partial
  rm -rf "$fresh"
  mkdir -p "$fresh"
  "$@" "$fresh" || die "could not make $(basename "$wanted"); what it said is above, and nothing half made is used."
  (cd "$fresh" && find . -type f -print0 | sort -z | xargs -0 sha256sum >"$wanted.sums")
  mv "$wanted.sums" "$fresh/SHA256SUMS"
  mv "$fresh" "$wanted"
  exec 7>&-
}

# A short name for the content of files, or of standard input.
fingerprint() {
  cat "$@" | sha256sum | cut -c1-12
}
