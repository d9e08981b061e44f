# shellcheck shell=bash disable=SC2154 # Variables come from run.
# What package managers take: the chart, a Debian package, a manifest for krew. Sourced by run.

# Name of an architecture among Debian's and Go's.
other_name() {
  if [ "$1" = x86_64 ]; then echo amd64; else echo arm64; fi
}

# The chart, with the digests of the images in its values; as an archive, and as an OCI layout, which registries take.
write_chart() {
  local chart=$work/chart archive=$out/kastor-$version.tgz
  mkdir -p "$chart"
  cp -r "$tree/helm/kastor" "$chart"
  local part image
  for part in operator agent; do
    image=$(sed -n "s/^  $part: //p" "$out/images/values.yaml")
    sed -i "s|^  $part: kastor/.*|  $part: $image|" "$chart/kastor/values.yaml"
    grep -qF "$image" "$chart/kastor/values.yaml" || die "the chart's values do not name $image."
  done
  settle "$chart/kastor"
  pack "$archive" "$chart" kastor

  local layout=$out/chart type=application/vnd.cncf.helm config content manifest
  mkdir -p "$layout/blobs/sha256"
  sed -n 's/^\([A-Za-z]*\): "\{0,1\}\([^"]*\)"\{0,1\}$/"\1":"\2"/p' "$chart/kastor/Chart.yaml" | sort | paste -sd, |
    sed 's/.*/{&}/' >"$work/config.json"
  config=$(blob "$type.config.v1+json" "$work/config.json")
  content=$(blob "$type.chart.content.v1.tar+gzip" "$archive")
  type=application/vnd.oci.image
  printf '{"schemaVersion":2,"mediaType":"%s","config":%s,"layers":[%s]}' \
    "$type.manifest.v1+json" "$config" "$content" >"$work/manifest.json"
  manifest=$(blob "$type.manifest.v1+json" "$work/manifest.json")
  manifest=${manifest%\}}$(printf ',"annotations":{"org.opencontainers.image.ref.name":"%s"}}' "$version")
  printf '{"schemaVersion":2,"mediaType":"%s","manifests":[%s]}' "$type.index.v1+json" "$manifest" >"$layout/index.json"
  printf '{"imageLayoutVersion":"1.0.0"}' >"$layout/oci-layout"
}

# blob TYPE FILE: copies a file to the layout of the chart and prints its descriptor.
blob() {
  local sum
  read -r sum _ < <(sha256sum "$2")
  cp "$2" "$layout/blobs/sha256/$sum"
  printf '{"mediaType":"%s","digest":"sha256:%s","size":%d}' "$1" "$sum" "$(stat -c %s "$2")"
}

# The installation as a Debian package, from what write_installation left.
write_debian_package() {
  local name debian folder=$work/$1/debian
  # There 1.2.3~rc.1 comes before 1.2.3.
  debian=$(tr - '~' <<<"$version")
  name=kastor_${debian}_$(other_name "$1").deb
  say "writing $name"
  mkdir -p "$folder/opt" "$folder/usr/bin" "$folder/DEBIAN"
  mv "$work/$1/kastor-$version" "$folder/opt/kastor"
  ln -s ../../opt/kastor/kastor ../../opt/kastor/kubectl-kastor "$folder/usr/bin"
  local kibibytes
  kibibytes=$(find "$folder/opt" -type f -printf '%s\n' | awk '{ sum += $1 } END { print int(sum / 1024) }')
  cat >"$folder/DEBIAN/control" <<CONTROL
Package: kastor
Version: $debian
Architecture: $(other_name "$1")
Maintainer: Kastor maintainers <root@localhost>
Installed-Size: $kibibytes
Depends: bash, libc6, zlib1g
Recommends: fontconfig, fonts-dejavu-core
Section: science
Priority: optional
Description: goodput-aware scheduler for deep-learning training
 The command kastor, with what local mode and replays need. It brings its own
 Java runtime.
CONTROL
  settle "$folder"
  # Others than gzip compress on several threads, whose number shows in what they write.
  dpkg-deb --root-owner-group -Zgzip -z9 --build "$folder" "$out/$name" >/dev/null
}

# The manifest with which krew installs "kubectl kastor".
write_krew_manifest() {
  local each archive sum
  {
    cat <<MANIFEST
# kubectl krew install --manifest=kubectl-kastor.yaml, with --archive=FILE where the archive is on this machine.
apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: kastor
spec:
  version: v$version
  shortDescription: See and change training jobs of Kastor
  description: |
    All commands of kastor on the cluster that kubectl uses: jobs, their sizes
    and why they have them, queues, and what is wrong.
  platforms:
MANIFEST
    for each in x86_64 aarch64; do
      archive=kastor-$version-linux-$each.tar.gz
      [ -f "$out/$archive" ] || continue
      read -r sum _ < <(sha256sum "$out/$archive")
      cat <<PLATFORM
    - selector:
        matchLabels: {os: linux, arch: $(other_name "$each")}
      uri: ${url:+${url%/}/}$archive
      sha256: $sum
      bin: kubectl-kastor
      files:
        - {from: "kastor-$version/*", to: .}
PLATFORM
    done
  } >"$out/kubectl-kastor.yaml"
}

# What changed: the section of this version.
write_notes() {
  awk -v title="## $version" '/^## / { wanted = index($0 " ", title " ") == 1 } wanted' "$tree/CHANGELOG.md" \
    >"$out/changes.md"
  [ -s "$out/changes.md" ] || die "CHANGELOG.md has no section '## $version' and none '## Unreleased'."
}
