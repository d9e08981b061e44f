# shellcheck shell=bash disable=SC2154 # Variables come from who sources this.
# Builds or finds what the cluster and the images are made of. Sourced by run and images; sets $kube, $node, $base and
# $jre, folders of the cache.

kubernetes=1.35.4
node_packages=(containerd runc containernetworking-plugins libseccomp2
  nftables libnftables1 libnftnl11 libmnl0 libjansson4 libedit2 libbsd0 libmd0 libtinfo6 libgmp10 libxtables12)
base_packages=(libc6 libgcc-s1 libstdc++6 libgomp1 zlib1g)
jre_modules=java.base,java.compiler,java.desktop,java.instrument,java.logging,java.management,java.naming,java.net.http
jre_modules+=,java.security.jgss,java.security.sasl,java.sql,java.xml,jdk.incubator.vector,jdk.management,jdk.naming.dns
jre_modules+=,jdk.net,jdk.unsupported,jdk.zipfs

# All of Kubernetes, a device plugin, a DNS server, the pause program and Helm: Go modules whose versions and checksums
# are in go.mod and go.sum. The go command verifies each, and goes on where it was stopped.
build_kube() {
  local out=$1 package version="" log=$cache/kube-build.log
  need go "Install Go 1.25 or newer, for example from https://go.dev/dl."
  for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    version+=" -X $package.gitVersion=v$kubernetes -X $package.gitMajor=1 -X $package.gitMinor=${kubernetes:2:2}"
    version+=" -X $package.gitTreeState=clean -X $package.buildDate=2026-01-01T00:00:00Z"
  done
  version+=" -X helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor=1 -X helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=${kubernetes:2:2}"
  say "building Kubernetes $kubernetes and Helm from source: about 20 CPU minutes the first time (log: $log)"
  (cd "$e2e/kube" && export CGO_ENABLED=0 &&
    nice go build -trimpath -ldflags "-s -w$version" -o "$out/" ./kube ./fakegpu ./names ./pause \
      helm.sh/helm/v3/cmd/helm) >"$log" 2>&1 &
  wait_with_progress $! || {
    tail -n 20 "$log" >&2
    return 1
  }
  for package in etcd kube-apiserver kube-controller-manager kube-scheduler kube-proxy kubelet kubectl; do
    ln -s kube "$out/$package"
  done
}

# The program that plays nodes. Its modules are those of Kubernetes where both use one, so little is left to compile.
build_kwok() {
  local out=$1 log=$cache/kwok-build.log
  need go "Install Go 1.26 or newer, for example from https://go.dev/dl."
  say "building kwok from source: about 4 CPU minutes the first time (log: $log)"
  (cd "$e2e/kwok" && export CGO_ENABLED=0 &&
    nice go build -trimpath -ldflags "-s -w" -o "$out/" sigs.k8s.io/kwok/cmd/kwok) >"$log" 2>&1 &
  wait_with_progress $! || {
    tail -n 20 "$log" >&2
    return 1
  }
}

apt_options=(-qq -o APT::Sandbox::User=root)

# Unpacks packages of the machine's own distribution into a folder; apt checks their signatures. Nothing is installed.
# What each was is noted as in images without a package manager, where scanners look for it.
unpack_packages() {
  local out=${*: -1} packages=("${@:1:$#-1}") downloads deb
  need apt-get "The parts of the node come from Debian's or Ubuntu's archive."
  need dpkg-deb "It unpacks the parts of the node."
  downloads=$(mktemp -d "$cache/debs.XXXXXX")
  (cd "$downloads" && apt-get "${apt_options[@]}" download "${packages[@]}") ||
    (apt-get "${apt_options[@]}" update && cd "$downloads" && apt-get "${apt_options[@]}" download "${packages[@]}") || return 1
  for deb in "$downloads"/*.deb; do
    dpkg-deb -x "$deb" "$out" && mkdir -p "$out/var/lib/dpkg/status.d" &&
      dpkg-deb -f "$deb" >"$out/var/lib/dpkg/status.d/$(dpkg-deb -f "$deb" Package)" || return 1
  done
  mkdir -p "$out/etc" && cp -L /etc/os-release "$out/etc/os-release"
  rm -rf "$downloads" "$out"/usr/share/{doc,man,lintian}
}

# The versions that apt would take of packages: when one is newer, what was made of the older is made again.
candidates() {
  apt-cache "${apt_options[@]}" policy "$@" | awk '/^[^ ]/ { name = $1 } $1 == "Candidate:" { print name, $2 }'
}

# link_jre MODULES FOLDER
link_jre() {
  "$JAVA_HOME/bin/jlink" --add-modules "$1" --strip-debug --no-header-files --no-man-pages --output "$2/jre"
}

# Waits for a process, telling the seconds while it works.
wait_with_progress() {
  local pid=$1 begun=$SECONDS
  while kill -0 "$pid" 2>/dev/null; do
    if [ -t 1 ]; then printf '\r\033[K       %d s' $((SECONDS - begun)); fi
    if [ ! -t 1 ] && [ $(((SECONDS - begun) % 60)) = 59 ]; then say "still at it"; fi
    sleep 1
  done
  if [ -t 1 ]; then printf '\r\033[K'; fi
  wait "$pid"
}

# prepare_scale: what a run with played nodes needs
prepare_scale() {
  kwok=kwok-$(cat "$e2e/kwok/go.mod" "$e2e/kwok/go.sum" | fingerprint -)
  cached "$kwok" build_kwok
  kwok=$cache/$kwok
  export kwok
}

# prepare_images: what the images are made of besides our own code
prepare_images() {
  local release
  release=$(. /etc/os-release && echo "${ID:-linux}-${VERSION_ID:-0}")
  base=base-$release-$(candidates "${base_packages[@]}" | fingerprint -)
  jre=jre-$(echo "$jre_modules" | fingerprint "$JAVA_HOME/release" -)
  cached "$base" unpack_packages "${base_packages[@]}"
  cached "$jre" link_jre "$jre_modules"
  base=$cache/$base jre=$cache/$jre
  export base jre
}

# prepare_foreign_base: the base of images for aarch64, in $foreign_base. What apt knows of their packages is kept apart.
prepare_foreign_base() {
  local own=("${apt_options[@]}") state=$cache/apt-arm64
  mkdir -p "$state/lists/partial" "$state/archives/partial"
  apt_options+=(-o APT::Architecture=arm64 -o APT::Architectures=arm64 -o "Dir::State::Lists=$state/lists"
    -o "Dir::Cache=$state" -o Dir::State::status=/dev/null)
  apt-get "${apt_options[@]}" update || say "apt-get update failed; the packages of the last one are taken"
  foreign_base=base-$(. /etc/os-release && echo "${ID:-linux}-${VERSION_ID:-0}")-arm64
  foreign_base+=-$(candidates "${base_packages[@]}" | fingerprint -)
  cached "$foreign_base" unpack_packages "${base_packages[@]}"
  foreign_base=$cache/$foreign_base
  apt_options=("${own[@]}")
}

# prepare_python: Python for the image of scripts that count their steps
prepare_python() {
  need python3 "Its interpreter and standard library are those of the image in which a script counts its steps."
  python=python-$(python3 -V 2>&1 | fingerprint "$e2e/pytorch_root.py" -)
  cached "$python" python3 -I "$e2e/pytorch_root.py" --python-alone
  python=$cache/$python
  export python
}

# prepare_pytorch: Python and PyTorch for the image of the PyTorch examples
prepare_pytorch() {
  local python
  python=$("$e2e/../kastor" pytorch) || die "the suite trains PyTorch jobs, and PyTorch could not be installed; why is above."
  pytorch=$(basename "$(dirname "$(dirname "$python")")")
  pytorch=pytorch-$pytorch-$(fingerprint "$e2e/pytorch_root.py")
  cached "$pytorch" "$python" -I "$e2e/pytorch_root.py"
  pytorch=$cache/$pytorch
  export pytorch
}

prepare() {
  local release
  release=$(. /etc/os-release && echo "${ID:-linux}-${VERSION_ID:-0}")
  kube=kube-$kubernetes-$(find "$e2e/kube" -type f | sort | xargs cat | fingerprint -)
  node=node-$release-$(echo "${node_packages[@]}" | fingerprint -)
  cached "$kube" build_kube
  cached "$node" unpack_packages "${node_packages[@]}"
  kube=$cache/$kube node=$cache/$node
  export kube node
  prepare_images
}
