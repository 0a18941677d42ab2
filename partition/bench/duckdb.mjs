// Edges of a white-space file to sorted, symmetric, distinct Parquet with DuckDB: node duckdb.mjs FILE OUT THREADS MEMORY
// Prints the seconds of the query alone, without the start of Node. Needs the npm package @duckdb/node-api.
import { DuckDBInstance } from '@duckdb/node-api';
const [, , file, out, threads, memory] = process.argv;
const db = await DuckDBInstance.create(':memory:', { threads, memory_limit: memory, temp_directory: out + '.tmp' });
const c = await db.connect();
const start = performance.now();
await c.run(`COPY (
  WITH e AS (SELECT a, b FROM read_csv('${file}', delim='\t', header=false, columns={'a': 'BIGINT', 'b': 'BIGINT'}) WHERE a <> b)
  SELECT DISTINCT * FROM (SELECT a AS row, b AS col FROM e UNION ALL SELECT b, a FROM e) ORDER BY row, col
) TO '${out}' (FORMAT parquet, COMPRESSION zstd)`);
console.log(((performance.now() - start) / 1000).toFixed(2));
