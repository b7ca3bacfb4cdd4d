// Package oracle compares what the REST dialect answers with what plain SQL says.
//
// Each world is a schema made at random: tables with keys of all sorts, junctions, views, functions, policies and
// grants, filled with values at the edges of their types. Random requests are made there over HTTP, and in SQL that a
// naive translator writes straight from the same random structure, as the same role with the same claims in a
// transaction that is undone. The answers must be equal, and so must the tables be after a write.
//
// `make test` asks some 2,000 requests with a fixed seed, BASALT_SOAK=1 100,000 with another one each time.
// BASALT_ORACLE_SEED repeats a run. What fails is made as small as it still fails, and shown as curl and SQL.
package oracle
