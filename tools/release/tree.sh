# shellcheck shell=bash disable=SC2154 # Variables come from run.
# The sources of a release, and the folder that users unpack. Sourced by run.

# What command, operator and agents run on: the runtime of the images, and the server that local mode embeds.
runtime_modules=$jre_modules,jdk.httpserver

# Copies the sources to $tree and gives them the version of the release everywhere.
copy_sources() {
  local old python
  mkdir -p "$tree"
  if [ "$dirty" = true ]; then
    (cd "$root" && git ls-files -z --cached --others --exclude-standard |
      while IFS= read -r -d '' file; do [ ! -f "$file" ] || printf '%s\0' "$file"; done |
      tar --null --files-from=- -c) | tar -x -C "$tree"
  else
    git -C "$root" archive HEAD | tar -x -C "$tree"
  fi
  old=$(sed -n 's|^  <version>\(.*\)</version>$|\1|p' "$tree/pom.xml" | head -n 1)
  grep -rlZF "$old" "$tree" | xargs -0 sed -i "s/${old//./\\.}/$version/g"
  sed -i "s/^version: .*/version: $version/" "$tree/helm/kastor/Chart.yaml"
  # Python writes 1.2.3-rc.1 as 1.2.3rc1 (PEP 440).
  python=${version/-alpha./a}
  python=${python/-beta./b}
  python=${python/-rc./rc}
  sed -i "s/^version = .*/version = \"$python\"/" "$tree/python/pyproject.toml"
  sed -i "s/^## Unreleased$/## $version - $(date -u -d "@$time" +%F)/" "$tree/CHANGELOG.md"
}

# Puts a Java runtime for an architecture at $work/ARCH/jre, or says in $reason why there is none.
prepare_runtime() {
  local modules name
  mkdir -p "$work/$1"
  name=runtime-$1-$(echo "$runtime_modules" | fingerprint "$JAVA_HOME/release" -)
  if [ "$1" = x86_64 ]; then
    cached "$name" link_jre "$runtime_modules"
  else
    modules=$jmods
    if [ -z "$modules" ] && [ ! -f "$cache/$name/SHA256SUMS" ]; then
      download_jmods || return 1
      modules=$(dirname "$(find "$work/jmods" -name java.base.jmod)")
    fi
    if [ -n "$jmods" ]; then
      name+=-$(fingerprint "$jmods/java.base.jmod")
    fi
    cached "$name" link_foreign_jre "$modules"
  fi
  ln -s "$cache/$name/jre" "$work/$1/jre"
}

# link_foreign_jre JMODS FOLDER: what strips native libraries knows those of this machine alone; these stay as they are.
link_foreign_jre() {
  "$JAVA_HOME/bin/jlink" --module-path "$1" --add-modules "$runtime_modules" --strip-java-debug-attributes \
    --no-header-files --no-man-pages --output "$2/jre"
}

# The modules of the JDK that builds, for Linux on aarch64, in $work/jmods.
download_jmods() {
  local java address
  java=$(sed -n 's/^SEMANTIC_VERSION="\(.*\)"/\1/p' "$JAVA_HOME/release")
  address=version/jdk-${java/+/%2B}/linux/aarch64/jmods/hotspot/normal/eclipse
  reason="Adoptium's modules of JDK $java for aarch64 could not be downloaded. Name a folder with them: --jmods FOLDER"
  mkdir -p "$work/jmods"
  curl --fail --silent --location --connect-timeout 10 --max-time 600 --output "$work/jmods.tar.gz" \
    "https://api.adoptium.net/v3/binary/$address" || return 1
  reason="the checksum of Adoptium's modules of JDK $java for aarch64 could not be had, or is another."
  local sum
  sum=$(curl --fail --silent --location --connect-timeout 10 --max-time 60 \
    "https://api.adoptium.net/v3/checksum/$address" | cut -c1-64) && [ ${#sum} = 64 ] || return 1
  echo "$sum  $work/jmods.tar.gz" | sha256sum --quiet --check >&2 || return 1
  tar -xzf "$work/jmods.tar.gz" -C "$work/jmods"
}

# Whether a jar holds native libraries: of one system and architecture each.
is_native() {
  [[ $(basename "$1") =~ (linux|darwin|macosx|win32|windows)-(x86[-_]64|aarch64|arm64) ]]
}

# Collects in $work/ARCH/natives the jars with native libraries for an architecture, or says in $reason what is missing.
prepare_natives() {
  local jar name natives=$work/$1/natives
  mkdir -p "$natives"
  for jar in "$tree"/{cli,training-agent}/target/lib/*.jar "$tree"/operator/target/quarkus-app/lib/main/*.jar; do
    name=$(basename "$jar")
    case $1:$name in
      x86_64:*linux-x86[-_]64* | aarch64:*linux-aarch64*) cp "$jar" "$natives" ;;
    esac
  done
  [ "$1" = aarch64 ] || return 0
  # The build has these for its own architecture. JCuda has none for others: there the backend cuda is absent.
  for jar in "$tree"/training-agent/target/lib/{dnnl,javacpp,opencl}-*-linux-x86_64.jar; do
    name=$(basename "$jar" -linux-x86_64.jar)
    reason="$name for aarch64 could not be downloaded from Maven's repository"
    # The option -C refuses what does not have the repository's checksum.
    (cd "$tree" && mvn -B -q -C -N dependency:copy "-Dartifact=org.bytedeco:${name%%-*}:${name#*-}:jar:linux-arm64" \
      "-DoutputDirectory=$natives") >"$work/natives.log" 2>&1 || return 1
  done
}

# Keeps of ECharts what pages load, and its licences: a tenth of all that its jar has.
shrink_charts() {
  local jar unpacked=$work/unpacked
  for jar in "$tree"/{cli/target/lib,operator/target/quarkus-app/lib/main}/*echarts-*.jar; do
    mkdir "$unpacked"
    (cd "$unpacked" && "$JAVA_HOME/bin/jar" --extract --file "$jar" &&
      find . -type f \( -path '*/dist/*.min.js' -o -name '*LICENSE*' -o -name NOTICE \) | sort >"$work/kept" &&
      "$JAVA_HOME/bin/jar" --create --file "$jar" --no-manifest --date "$(date -u -d "@$time" +%FT%TZ)" "@$work/kept")
    rm -rf "$unpacked"
  done
}

# Writes $out/kastor-VERSION-linux-ARCH.tar.gz and leaves its content in $work/ARCH.
write_installation() {
  local folder=$work/$1/kastor-$version archive=kastor-$version-linux-$1.tar.gz
  say "writing $archive"
  mkdir -p "$folder/lib/native" "$folder/traces"
  cp "$tree"/{kastor,kubectl-kastor,LICENSE,README.md,CHANGELOG.md} "$folder"
  # Links, which the examples and the licences of the runtime have, are more than krew unpacks.
  cp -rL "$tree"/docs "$tree"/examples "$folder"
  cp -r "$tree"/traces/{README.md,profiles,workloads} "$folder/traces"
  cp "$tree/target/licences.txt" "$folder/lib"
  cp -rL "$work/$1/jre" "$folder/runtime"
  unpack_natives "$work/$1/natives" "$folder/lib/native"
  cp -r "$tree/operator/target/quarkus-app" "$folder/lib/operator"
  empty_natives "$folder/lib/operator/lib/main"
  collect_jars "$folder" cli
  collect_jars "$folder" training-agent
  mv "$folder/lib/training-agent.classpath" "$folder/lib/agent.classpath"
  printf '%s\n' "VERSION=$version" "COMMIT=$commit" "ARCH=$1" >"$folder/release"
  settle "$folder"
  # They are recorded while commands run, which those for another processor do not here.
  if [ "$1" = "$(uname -m)" ]; then link_classes "$folder"; fi
  pack "$out/$archive" "$work/$1" "kastor-$version"
}

# Puts the classes of commands and of the agent, loaded and linked, into an installation: the JVM compares sizes and times
# of the jars, so this comes last. Two records differ, so the newest is kept for the same files.
link_classes() {
  local name
  name=installation-aot-$(cd "$1" && { echo "$time" && sha256sum runtime/lib/modules &&
    cat lib/cli.classpath lib/agent.classpath | xargs sha256sum; } | fingerprint -)
  find "$cache" -maxdepth 1 -name 'installation-aot-*' ! -name "$name*" -exec rm -rf {} +
  cached "$name" record_classes "$1"
  cp "$cache/$name"/{kastor,agent}.aot "$1/lib"
  settle "$1"
}

# record_classes INSTALLATION FOLDER
record_classes() {
  "$1/kastor" link && mv "$1"/lib/{kastor,agent}.aot "$2"
}

# unpack_natives JARS FOLDER: puts all native libraries of jars into one folder.
unpack_natives() {
  local jar unpacked=$work/unpacked
  for jar in "$1"/*.jar; do
    mkdir "$unpacked"
    (cd "$unpacked" && "$JAVA_HOME/bin/jar" --extract --file "$jar")
    # NVIDIA's assembler of PTX, a third of all, is there for tests.
    find "$unpacked" -name '*.so*' ! -name 'libJNvPTXCompiler*' -exec mv -t "$2" {} +
    rm -rf "$unpacked"
  done
}

# Replaces jars with native libraries by empty ones: the operator has a list of its jars and misses what is not there.
empty_natives() {
  local jar
  for jar in "$1"/*.jar; do
    # The end of a directory of a ZIP archive, which lists nothing.
    if is_native "$jar"; then { printf 'PK\5\6' && head -c 18 /dev/zero; } >"$jar"; fi
  done
}

# collect_jars FOLDER MODULE: copies the jars that a module needs, each content once, and lists them in the order of the
# class path in lib/MODULE.classpath. Most are those of the operator.
collect_jars() {
  local jar name sum path
  local -A stored
  while read -r sum path; do stored[$sum]=$path; done < <(cd "$1" && find lib -name '*.jar' -exec sha256sum {} +)
  for jar in "$tree/$2/target/$2"-*.jar "$tree/$2/target/lib"/*.jar; do
    if is_native "$jar"; then continue; fi
    read -r sum _ < <(sha256sum "$jar")
    if [ -z "${stored[$sum]:-}" ]; then
      name=lib/$(basename "$jar")
      [ ! -e "$1/$name" ] || die "$name is there twice, with another content each."
      cp "$jar" "$1/$name"
      stored[$sum]=$name
    fi
    echo "${stored[$sum]}"
  done >"$1/lib/$2.classpath"
}

# Gives files the time of the commit and the rights that they have with everybody.
settle() {
  chmod -R u=rwX,go=rX "$1"
  find "$1" -exec touch --no-dereference --date="@$time" {} +
}

# pack ARCHIVE FOLDER ENTRY: the same files give the same archive.
pack() {
  tar --sort=name --mtime="@$time" --owner=0 --group=0 --numeric-owner --format=ustar -C "$2" -c "$3" | gzip -9n >"$1"
}
