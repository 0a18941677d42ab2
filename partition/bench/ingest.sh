#!/usr/bin/env bash
# Times privcom ingest beside sort and DuckDB on one file, in turn, and prints the medians and the ratios to ingest.
#   partition/bench/ingest.sh [ROUNDS] [SCALE]        from the root of the repository; 5 rounds, scale 20 (10 M edges, 139 MB)
# DuckDB takes part where a folder with node_modules/@duckdb/node-api is named by DUCKDB (npm install @duckdb/node-api in it).
# GNU time must be installed. Times are of the wall; what else the machine does shows in both sides of a ratio.
set -euo pipefail
rounds=${1:-5} scale=${2:-20}
here=$(pwd) dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
go build -o "$dir/privcom" ./cmd/privcom
cd "$dir"
./privcom --quiet generate rmat --scale "$scale" --edge-factor 10 --out edges.txt
ls -l edges.txt | awk '{ printf "%.0f MB, ", $5 / 1e6 }'; wc -l < edges.txt | awk '{ print $1 " edges" }'
run() { # name command...: appends wall, processor and memory
  local name=$1; shift
  /usr/bin/time -o one -f '%e %U %S %M' "$@" > said
  awk -v n="$name" '{ printf "%-22s %6.2f s, %6.2f s of processors, %5d MB\n", n, $1, $2 + $3, $4 / 1024 }' one
  awk '{ print $1, $2 + $3 }' one >> "times.$name"
}
for ((i = 0; i < rounds; i++)); do
  rm -rf graph; run ingest ./privcom --quiet ingest edges.txt --out graph --shards 2
  run sort-C env LC_ALL=C sort -u -S1G --parallel=2 -T . edges.txt -o sorted.txt
  run sort-default sort -u -S1G --parallel=2 -T . edges.txt -o sorted.txt
  if [ -n "${DUCKDB:-}" ]; then
    cp "$here/partition/bench/duckdb.mjs" "$DUCKDB/"
    run duckdb node "$DUCKDB/duckdb.mjs" "$dir/edges.txt" "$dir/duck.parquet" 2 2GB
    awk -v s="$(cat said)" 'BEGIN { print s, 0 }' >> times.duckdb-query
  fi
done
echo "medians (seconds), and pair by pair the median ratio to ingest: wall, processors"
for t in times.*; do
  paste -d' ' "$t" times.ingest | awk -v n="${t#times.}" '
    function median(a, k) { asort_(a, k); return k % 2 ? a[(k + 1) / 2] : (a[k / 2] + a[k / 2 + 1]) / 2 }
    function asort_(a, k, i, j, x) { for (i = 2; i <= k; i++) { x = a[i]; for (j = i - 1; j > 0 && a[j] > x; j--) a[j + 1] = a[j]; a[j + 1] = x } }
    { w[NR] = $1; r[NR] = $1 / $3; c[NR] = $2 / $4 }
    END { printf "%-22s %6.2f   %5.2f   %s\n", n, median(w, NR), median(r, NR), (c[1] > 0 ? sprintf("%.2f", median(c, NR)) : "") }'
done
