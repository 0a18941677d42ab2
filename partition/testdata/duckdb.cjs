// Counts a graph folder with DuckDB: node duckdb.cjs MODULES GRAPH HUB A B, where MODULES holds node_modules/@duckdb/node-api,
// HUB is a vertex whose neighbours are counted, and A, B the ends of an edge. Prints JSON.
const { DuckDBInstance } = require(require.resolve('@duckdb/node-api', { paths: [process.argv[2]] }));
const [, , , graph, hub, a, b] = process.argv;
(async () => {
  const c = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect();
  const rows = `'${graph}/rows-*.parquet'`, ids = `'${graph}/vertices-*.parquet'`;
  const named = `${rows} r JOIN ${ids} a ON a.row = r.row JOIN ${ids} b ON b.row = r.col`;
  const one = async (sql) => String((await (await c.runAndReadAll(sql)).getRows())[0][0]);
  console.log(JSON.stringify({
    Arcs: await one(`SELECT count(*) FROM ${rows}`),
    Edges: await one(`SELECT count(*) FROM ${rows} WHERE row < col`),
    Vertices: await one(`SELECT count(DISTINCT id) FROM ${ids}`),
    Highest: await one(`SELECT max(row) FROM ${ids}`),
    Hub: await one(`SELECT count(*) FROM ${named} WHERE a.id::VARCHAR = '${hub}'`),
    Pair: await one(`SELECT count(*) FROM ${named} WHERE (a.id::VARCHAR, b.id::VARCHAR) IN (('${a}', '${b}'), ('${b}', '${a}'))`),
    Sorted: await one(`SELECT bool_and(fine) FROM (SELECT (row, col) > lag((row, col)) OVER (PARTITION BY filename ORDER BY file_row_number) IS NOT FALSE AS fine
      FROM read_parquet(${rows}, filename = true, file_row_number = true))`),
  }));
})().catch((e) => { console.error(e); process.exit(1); });
