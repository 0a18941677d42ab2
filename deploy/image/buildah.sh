#!/usr/bin/env bash
# Builds the Dockerfile with buildah, without a registry: this machine's Go becomes the builder's image. Checks that the image runs,
# is stamped, and is nobody's root. It needs root, buildah, and the modules in Go's cache (go mod download).
#
#   E2E_WORK=/tmp/privcom-e2e deploy/image/buildah.sh
set -euo pipefail
: "${E2E_WORK:?name a work folder}"
root=$(cd "$(dirname "$0")/../.." && pwd); work=$(mkdir -p "$E2E_WORK" && cd "$E2E_WORK" && pwd)/buildah
store=$work/store; builder=""
b() { buildah --root "$store" --runroot "$work/runroot" --storage-driver vfs "$@"; }
leave() { local code=$?; b rm --all >/dev/null 2>&1 || true; b rmi --all --force >/dev/null 2>&1 || true; rm -rf "$work"; exit $code; }
mkdir -p "$work"; trap leave EXIT
fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }

builder=$(b from scratch)
b copy --quiet "$builder" "$(go env GOROOT)" /usr/local/go >/dev/null
b copy --quiet "$builder" /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt >/dev/null
b config --env PATH=/usr/local/go/bin --env GOROOT=/usr/local/go --env HOME=/root --env GOPROXY=off --env GOTOOLCHAIN=local --env GOCACHE=/cache --env GOTMPDIR=/cache/tmp "$builder"
b commit --quiet "$builder" localhost/go-builder:e2e >/dev/null; b rm "$builder" >/dev/null
mkdir -p "$work/cache/tmp" "$work/context"
git -C "$root" archive HEAD | tar -x -C "$work/context"
b bud --quiet --isolation chroot --network host --volume "$(go env GOMODCACHE):/root/go/pkg/mod:ro" --volume "$work/cache:/cache" \
  --build-arg GO_IMAGE=localhost/go-builder:e2e --build-arg VERSION=9.9.9-buildah -f deploy/image/Dockerfile -t localhost/privcom:buildah "$work/context" >/dev/null
c=$(b from localhost/privcom:buildah)
version=$(b run --isolation chroot "$c" /bin/privcom version)
case $version in "privcom 9.9.9-buildah"*) echo "ok: $version" ;; *) fail "the image says \"$version\"" ;; esac
user=$(b inspect --format '{{.OCIv1.Config.User}}' "$c")
test "$user" = 65532:65532 || fail "its user is \"$user\""
files=$(find "$(b mount "$c")" -type f | wc -l)
test "$files" -le 12 || fail "$files files in an image of three programs"
echo "ok: user $user, $files files"
