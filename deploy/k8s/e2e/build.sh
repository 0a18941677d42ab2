#!/usr/bin/env bash
# Builds everything that the cluster test needs into $E2E_WORK/bin and $E2E_WORK/images, from Go modules alone:
# Kubernetes, etcd, CoreDNS, Argo Workflows, nats-server, versitygw and the product. About 10 minutes of two cores and 4 GB
# the first time; a second call builds only what is not there. The product's image is always built.
set -euo pipefail
: "${E2E_WORK:?name a work folder}"
here=$(cd "$(dirname "$0")" && pwd); root=$(cd "$here/../../.." && pwd)
work=$(mkdir -p "$E2E_WORK" && cd "$E2E_WORK" && pwd); bin=$work/bin
mkdir -p "$bin" "$work/images"
export CGO_ENABLED=0 GOFLAGS=-trimpath GOWORK=off
kubernetes=v1.34.4 argo=v3.7.3

have() { for f; do test -x "$bin/$f" || return 1; done; }
say() { printf '== %s\n' "$*"; }

tools=(kube-apiserver kube-controller-manager kube-scheduler kube-proxy kubelet kubectl)
have "${tools[@]}" || { say "Kubernetes $kubernetes"
  (cd "$here/tools/kubernetes" && go build -ldflags "-s -w -X k8s.io/component-base/version.gitVersion=$kubernetes" -o "$bin/" "${tools[@]/#/k8s.io/kubernetes/cmd/}"); }
for t in etcd coredns pause; do
  have $t || { say $t; (cd "$here/tools/$t" && go build -ldflags "-s -w" -o "$bin/$t" .); }
done
have versitygw || { say versitygw; (cd "$here/tools/versitygw" && go build -ldflags "-s -w" -o "$bin/" github.com/versity/versitygw/cmd/versitygw); }
have nats-server || { say nats-server; (cd "$root" && go build -ldflags "-s -w" -o "$bin/nats-server" github.com/nats-io/nats-server/v2); }
have argo argoexec workflow-controller || { say "Argo Workflows $argo"
  # The module archive lacks a symbolic link (the signals of Linux are those of Darwin) and the web pages: a copy gets both.
  src=$work/argo-source; rm -rf "$src"
  module=$(cd "$here/tools/pause" && GOFLAGS= go mod download -json github.com/argoproj/argo-workflows/v3@$argo | sed -n 's/^\s*"Dir": "\(.*\)",$/\1/p')
  cp -r "$module" "$src"; chmod -R u+w "$src"
  cp "$src/workflow/executor/osspecific/signal_darwin.go" "$src/workflow/executor/osspecific/signal_linux.go"
  mkdir -p "$src/ui/dist/app"; touch "$src/ui/dist/app/index.html"
  (cd "$src" && go build -mod=readonly -ldflags "-s -w -X github.com/argoproj/argo-workflows/v3.version=$argo" -o "$bin/" ./cmd/argo ./cmd/argoexec ./cmd/workflow-controller)
  cp -r "$src/manifests/base/crds/minimal" "$work/argo-crds"; rm -rf "$src"; }

say "images"
(cd "$root/deploy/image" && GOFLAGS= go build -o "$bin/privcom-image" .)
image() { test -s "$work/images/$1.tar" || "$bin/privcom-image" --static "$bin/$2" --name "$3" --out "$work/images/$1.tar"; }
image pause pause localhost/pause:1
image nats nats-server localhost/nats:e2e
image argoexec argoexec localhost/argoexec:$argo
(cd "$root" && go build -buildvcs=false -ldflags "-s -w -X github.com/privcom/privcom/internal/cli.Version=0.0.0-e2e" -o "$bin/" ./cmd/...)
"$bin/privcom-image" --root "$root" --version 0.0.0-e2e --name localhost/privcom:e2e --out "$work/images/privcom.tar"
