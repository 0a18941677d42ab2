#!/usr/bin/env bash
# Makes the Secrets that the manifests refer to: a login for each role, and a certificate for NATS of an authority of its own,
# whose key is thrown away. Run it once before the first apply, and again to rotate (docs/operations.md). Nothing is left on disk.
#
#   deploy/k8s/secrets.sh [NAMESPACE]
#
# What it does for each Secret is one line of "kubectl create secret"; where cert-manager or a vault makes them, leave it out.
# It needs kubectl and openssl.
set -euo pipefail
namespace=${1:-privcom}
umask 077
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
put() { kubectl -n "$namespace" create secret "$@" --dry-run=client -o yaml | kubectl -n "$namespace" apply --server-side --force-conflicts -f -; }

kubectl create namespace "$namespace" --dry-run=client -o yaml | kubectl apply --server-side -f -
for role in coordinator shard watcher; do
  openssl rand -hex 24 | tr -d '\n' >"$dir/password"
  printf '%s:%s' "$role" "$(cat "$dir/password")" >"$dir/login"
  put generic "privcom-nats-$role" --from-file=login="$dir/login" --from-file=password="$dir/password"
done

openssl req -x509 -newkey rsa:3072 -nodes -days 825 -subj "/CN=privcom-nats authority" -keyout "$dir/ca.key" -out "$dir/ca.crt" 2>/dev/null
openssl req -newkey rsa:3072 -nodes -subj /CN=privcom-nats -keyout "$dir/tls.key" -out "$dir/tls.csr" 2>/dev/null
names=DNS:privcom-nats,DNS:privcom-nats.$namespace,DNS:privcom-nats.$namespace.svc,DNS:*.privcom-nats,DNS:*.privcom-nats.$namespace.svc.cluster.local
openssl x509 -req -in "$dir/tls.csr" -CA "$dir/ca.crt" -CAkey "$dir/ca.key" -CAcreateserial -days 825 -out "$dir/tls.crt" 2>/dev/null \
  -extfile <(printf 'subjectAltName=%s\nextendedKeyUsage=serverAuth,clientAuth\n' "$names")
put generic privcom-nats-tls --from-file=tls.crt="$dir/tls.crt" --from-file=tls.key="$dir/tls.key" --from-file=ca.crt="$dir/ca.crt"
