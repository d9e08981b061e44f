# shellcheck shell=bash
# The commands of a page, typed one after the other as its reader does. Sourced by check.

# commands_of PAGE FROM TO: what is in blocks marked sh between two headings
commands_of() {
  sed -n "/^## $2\$/,/^## $3\$/p" "$1" | sed -n '/^```sh$/,/^```$/{/^```/d;p}'
}

# Whether these lines are a whole command: the shell has nothing to say against them.
is_whole() {
  [[ $1 != *\\ ]] && [ -z "$(bash -n <<<"$1" 2>&1)" ]
}

# type_page PAGE FROM TO: runs the commands in this folder, writes them and their output to page.log, and says how long
# each took. What is meant for a terminal of its own goes on in the background, until the page says that it is ready.
type_page() {
  local line command="" begun
  while IFS= read -r line; do
    command+=${command:+$'\n'}$line
    if [ -z "$command" ] || ! is_whole "$command"; then continue; fi
    printf '\n$ %s\n' "$command" >>page.log
    begun=$EPOCHREALTIME
    if [[ $command == *"in a terminal of its own"* ]]; then
      eval "exec $command" >up.log 2>&1 &
      up=$!
      await_up
    else
      eval "$command" >>page.log 2>&1 </dev/null || die "this failed: $command" "$(tail -n 20 page.log)"
    fi
    took "$begun" "$command"
    command=""
  done < <(commands_of "$@")
  [ -z "$command" ] || die "this command of the page has no end: $command"
}
