#!/usr/bin/env bash
# The cluster test: a real Kubernetes of one node, a release that loses a shard's pod and the coordinator's, the same release
# by processes of this machine from the recorded answers, and nights by Argo Workflows. See cluster.sh for what it needs, build.sh for
# what it builds. About 4 minutes on two cores after the build.
#
#   E2E_WORK=/tmp/privcom-e2e deploy/k8s/e2e/run.sh          # KEEP=1 leaves the cluster up
#
# Everything that it writes is below the work folder; it ends what it starts, whether it passes or fails.
set -euo pipefail
: "${E2E_WORK:?name a work folder}"
here=$(cd "$(dirname "$0")" && pwd); k8s=$here/..
mkdir -p "$E2E_WORK"; work=$(cd "$E2E_WORK" && pwd); export E2E_WORK=$work
vol=$work/volumes; state=$work/run; ip=10.250.0.1
export PATH=$work/bin:$PATH KUBECONFIG=$work/pki/admin.kubeconfig PRIVCOM_QUIET=true

say() { printf '\n== %s\n' "$*"; }
fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
k() { "$here/cluster.sh" run kubectl -n privcom "$@"; }
argocli() { "$here/cluster.sh" run argo -n privcom "$@"; }
# await SECONDS WHAT CMD...
await() {
  local seconds=$1 what=$2 i; shift 2
  for ((i = 0; i < seconds * 2; i++)); do "$@" >/dev/null 2>&1 && return; sleep 0.5; done
  k get pods,jobs,workflows -o wide 2>&1 | head -40 >&2 || true
  fail "$what: not in $seconds s"
}
# same WHAT WANT HAVE
same() { test "$2" = "$3" || fail "$1: want \"$2\", have \"$3\""; echo "ok: $1: $3"; }
field() { sed -n "s/^ *\"$1\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}$/\1/p" | head -1; }
# by runs a command as the user of the pods.
by() { setpriv --reuid 65532 --regid 65532 --clear-groups env HOME="$work/home" TMPDIR="$work/home" "$@"; }

leave() {
  local code=$?
  if test $code != 0; then
    k get pods,jobs,workflows -o wide >"$work/logs/state.txt" 2>&1 || true
    k get events --sort-by .lastTimestamp >"$work/logs/events.txt" 2>&1 || true
    for p in $(k get pods -o name 2>/dev/null); do k logs --all-containers "$p" >"$work/logs/${p#pod/}.log" 2>&1 || true; done
  fi
  test -n "${KEEP-}" || "$here/cluster.sh" down
  test $code = 0 && printf '\nPASSED\n' || printf '\nFAILED with %d; logs in %s\n' "$code" "$work/logs"
}

"$here/build.sh"
test ! -e /run/netns/privcom-e2e || fail "a cluster is up already: end it with cluster.sh down"
trap leave EXIT
"$here/cluster.sh" up

say "secrets, volumes, the overlay"
"$here/cluster.sh" run "$k8s/secrets.sh" privcom >/dev/null
rm -rf "$vol" "$work/root" "$work/home" "$work/cluster-release" "$work/buckets"; mkdir -p "$vol"/{data/in,data/graph,data/staging,data/work,ledger,public} "$work/home"
privcom generate sbm --vertices 6000 --communities 4 --degree-in 60 --degree-out 6 --seed 7 --out "$vol/data/in/graph.csv" >/dev/null
chown -R 65532:65532 "$vol" "$work/home"
# The volumes are in the work folder, not in /var/lib.
kubectl kustomize "$k8s/overlays/e2e" | sed "s#/var/lib/privcom#$vol#" | k apply --server-side --force-conflicts -f - >/dev/null
await 60 "NATS" k wait --for condition=Ready pod/privcom-nats-0 --timeout 1s
by privcom budget init --ledger "$vol/ledger" --dataset people --unit edge --epsilon-limit 9 >/dev/null
by privcom ingest "$vol/data/in/graph.csv" --out "$vol/data/graph/first" --shards 3 --output none

say "no plain text, no stranger"
nats=$(k get pod privcom-nats-0 -o jsonpath='{.status.podIP}')
set +e
"$here/cluster.sh" run timeout 20 shard --graph "$vol/data/graph/first" --run first --nats nats://$nats:4222 2>"$work/logs/plain.txt"; code=$?
set -e
test $code != 0 || fail "a shard without TLS got in"
echo "ok: without TLS and login: exit $code"

say "a release by Jobs"
k patch job privcom-shards -p '{"spec":{"suspend":false}}' >/dev/null
k patch job privcom-coordinator -p '{"spec":{"suspend":false}}' >/dev/null
recorded() { test "$(find "$vol/data/work/first/steps" -name 'step-*.rec' 2>/dev/null | wc -l)" -ge "$1"; }
await 120 "20 recorded steps" recorded 20
pod=$(k get pods -l batch.kubernetes.io/job-name=privcom-shards,batch.kubernetes.io/job-completion-index=1 -o name | head -1)
k delete --wait=false "$pod" >/dev/null; echo "deleted $pod at $(find "$vol/data/work/first/steps" -name 'step-*.rec' | wc -l) steps"
await 120 "80 recorded steps" recorded 80
pod=$(k get pods -l batch.kubernetes.io/job-name=privcom-coordinator --field-selector status.phase=Running -o name | head -1)
k delete --wait=false "$pod" >/dev/null; at=$(find "$vol/data/work/first/steps" -name 'step-*.rec' | wc -l); echo "deleted $pod at $at steps"
test "$at" -lt 300 || fail "the run was over before the coordinator was deleted: raise PRIVCOM_STEPS"
await 300 "the coordinator's Job" k wait --for condition=Complete job/privcom-coordinator --timeout 1s
await 60 "the shards' Job" k wait --for condition=Complete job/privcom-shards --timeout 1s
same "indexes done" "0-2" "$(k get job privcom-shards -o jsonpath='{.status.completedIndexes}')"
same "terms of the lease" 2 "$(find "$vol/data/work/first/lease" -name 'term-*.json' | wc -l)"
by privcom budget show --ledger "$vol/ledger" --dataset people --output json >"$work/ledger.json"
same "ledger entries of releases" 1 "$(grep -c '"status": "committed"' "$work/ledger.json")"
same "entries left reserved" 0 "$(grep -c '"status": "reserved"' "$work/ledger.json" || true)"
by privcom verify "$vol/data/staging/first" >"$work/verify.txt" || fail "verify refuses the release: $(cat "$work/verify.txt")"
pod=$(k get pods -l batch.kubernetes.io/job-name=privcom-coordinator --field-selector status.phase=Succeeded -o name | head -1)
k get "$pod" -o jsonpath='{.status.containerStatuses[0].state.terminated.message}' >"$work/last-words.json"
same "the coordinator's last words: code" 0 "$(sed 's/.*"code":\([0-9]*\).*/\1/' "$work/last-words.json")"

say "the same release by processes of this machine, from the recorded answers"
mv "$vol/data/staging/first" "$work/cluster-release"
settings() { for m in privcom-run privcom-plan; do k get configmap $m -o go-template='{{range $k, $v := .data}}{{$k}}={{$v}}{{"\n"}}{{end}}'; done | grep -v '^PRIVCOM_NATS'; }
settings >"$work/settings.env"
# A run's settings name its places. A root folder of our own has the pods' places under the pods' names; the programs are static.
root=$work/root; mkdir -p "$root"
unshare --mount --net --propagation private bash -euo pipefail -c '
  root=$1 work=$2
  ip link set lo up
  mount -t tmpfs none "$root"; mkdir -p "$root"/{bin,data,ledger,tmp,dev}; chmod 1777 "$root/tmp"
  cp "$work"/bin/{coordinator,shard,nats-server} "$root/bin/"
  mount --bind "$work/volumes/data" "$root/data"; mount --bind "$work/volumes/ledger" "$root/ledger"
  mapfile -t settings <"$work/settings.env"
  chroot=$(command -v chroot)
  as() { env -i "${settings[@]}" TMPDIR=/tmp "$chroot" --userspec=65532:65532 "$root" "$@"; }
  as /bin/nats-server -a 127.0.0.1 >"$work/logs/local-nats.log" 2>&1 & server=$!
  as /bin/shard --index 0 >"$work/logs/local-shard.log" 2>&1 & shard=$!
  trap "kill $server $shard 2>/dev/null || true" EXIT
  as /bin/coordinator --join 3s --output none 2>"$work/logs/local-coordinator.log"
  wait $shard
' - "$root" "$work" || fail "the local run ended with $?: $(tail -3 "$work/logs/local-coordinator.log")"
diff -r "$work/cluster-release" "$vol/data/staging/first" || fail "the local release differs"
same "bytes of the local release, one worker instead of three" "$(cd "$work/cluster-release" && find . -type f | sort | xargs sha256sum | sha256sum)" \
  "$(cd "$vol/data/staging/first" && find . -type f | sort | xargs sha256sum | sha256sum)"
same "ledger entries after it" 1 "$(by privcom budget show --ledger "$vol/ledger" --dataset people --output json | grep -c '"status": "committed"')"

say "nights by Argo Workflows"
k apply --server-side -k "$work/argo-crds" >/dev/null
mkdir -p "$work/buckets/privcom-private"
setsid nsenter --net=/run/netns/privcom-e2e -- env ROOT_ACCESS_KEY=e2e ROOT_SECRET_KEY=e2e-secret versitygw --port $ip:9000 posix "$work/buckets" \
  >"$work/logs/gateway.log" 2>&1 </dev/null & echo $! >"$state/gateway.pid"
k create secret generic privcom-s3 --from-literal=AWS_ACCESS_KEY_ID=e2e --from-literal=AWS_SECRET_ACCESS_KEY=e2e-secret \
  --from-literal=AWS_REGION=us-east-1 --dry-run=client -o yaml | k apply --server-side -f - >/dev/null
k create configmap workflow-controller-configmap --dry-run=client -o yaml | k apply --server-side -f - >/dev/null # the defaults
k apply --server-side --force-conflicts -k "$k8s/argo/e2e" >/dev/null
setsid nsenter --net=/run/netns/privcom-e2e -- env LEADER_ELECTION_DISABLE=true KUBECONFIG="$KUBECONFIG" workflow-controller --namespaced --namespace privcom \
  --managed-namespace privcom --executor-image localhost/argoexec:v3.7.3 --executor-image-pull-policy Never >"$state/../logs/argo.log" 2>&1 </dev/null & echo $! >"$state/argo.pid"

# night NAME DAY [FLAG...] submits; phase and output read.
night() { local name=$1 day=$2; shift 2; argocli submit --from workflowtemplate/privcom-night --name "$name" -p night="$day" -p input=/data/in/graph.csv "$@" >/dev/null; }
phase() { k get workflow "$1" -o jsonpath='{.status.phase}'; }
output() { k get workflow "$1" -o jsonpath="{.status.outputs.parameters[?(@.name==\"$2\")].value}"; }
ended() { case $(phase "$1") in Succeeded | Failed | Error) ;; *) return 1 ;; esac; }
node() { k get workflow "$1" -o go-template="{{range .status.nodes}}{{if eq .displayName \"$2\"}}{{.phase}}{{end}}{{end}}"; }
waiting() { test "$(node "$1" approve)" = Running; }

night night-a 2027-01-31
await 180 "the question to a person" waiting night-a
k get workflow night-a -o go-template='{{range .status.nodes}}{{if eq .displayName "approve"}}{{range .inputs.parameters}}   {{.name}}: {{.value}}{{"\n"}}{{end}}{{end}}{{end}}'
test ! -e "$vol/data/work/2027-01-31" || fail "something was begun before the approval"
argocli resume night-a >/dev/null
await 400 "the night's end" ended night-a
same "night-a" Succeeded "$(phase night-a)"
same "outcome" published "$(output night-a outcome)"
same "release URL" /public/2027-01-31 "$(output night-a release-url)"
echo "   epsilon spent $(output night-a epsilon-spent), edges $(output night-a edges), remaining $(output night-a remaining)"
by privcom verify "$vol/public/2027-01-31" >/dev/null || fail "the published release is not sound"
same "edges in release.json" "$(output night-a edges)" "$(sed -n '/"graph": {/,/}/p' "$vol/public/2027-01-31/release.json" | field edges)"
test -n "$(find "$work/buckets/privcom-private/reports/night-a" -name 'evaluation*')" || fail "no evaluation in the private bucket"
test -z "$(grep -rl evaluation "$vol/public" || true)" || fail "an evaluation in the public place"
echo "ok: artifacts: $(cd "$work/buckets/privcom-private/reports/night-a" && find . -type f | wc -l) in the private bucket"

spent=$(by privcom budget show --ledger "$vol/ledger" --dataset people --output json | grep -c '"status": "committed"')
night night-b 2027-01-31
await 180 "the second run's end" ended night-b
same "a second run for the night" "Succeeded released" "$(phase night-b) $(output night-b outcome)"
same "ledger entries after it" "$spent" "$(by privcom budget show --ledger "$vol/ledger" --dataset people --output json | grep -c '"status": "committed"')"

night night-c 2027-02-01 -p standing-epsilon=9
await 400 "a night within the standing budget" ended night-c
same "standing budget" "Succeeded published Skipped" "$(phase night-c) $(output night-c outcome) $(node night-c approve)"

by privcom budget init --ledger "$vol/ledger" --dataset people --unit edge --epsilon-limit 5 --allow-passed >/dev/null
night night-d 2027-02-02
await 180 "the refused night's end" ended night-d
same "a refused budget" "Succeeded refused" "$(phase night-d) $(output night-d outcome)"
test ! -e "$vol/public/2027-02-02" || fail "a refused night was published"

say "a cron night"
k patch cronworkflow privcom-night --type merge -p '{"spec":{"suspend":false}}' >/dev/null
cron() { k get workflows -l workflows.argoproj.io/cron-workflow=privcom-night -o name | grep -q .; }
await 150 "a workflow of the schedule" cron
k patch cronworkflow privcom-night --type merge -p '{"spec":{"suspend":true}}' >/dev/null
name=$(k get workflows -l workflows.argoproj.io/cron-workflow=privcom-night -o jsonpath='{.items[0].metadata.name}')
await 180 "its end" ended "$name"
same "the cron night (the budget still refuses)" "Succeeded refused" "$(phase "$name") $(output "$name" outcome)"
