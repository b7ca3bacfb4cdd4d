-- With the modifier -1 format_type spells the type that has no length: "bit" and bpchar rather than bit and
-- character, which SQL reads as bit(1) and character(1).
select
  t.oid,
  n.nspname,
  t.typname,
  t.typtype,
  t.typcategory,
  format_type(t.oid, -1),
  case when t.typsubscript = 'array_subscript_handler'::regproc then t.typelem else 0 end,
  t.typbasetype,
  t.typarray,
  t.typrelid,
  t.typnotnull,
  t.typtypmod,
  pg_get_expr(t.typdefaultbin, 0)
from pg_type t
join pg_namespace n on n.oid = t.typnamespace
where n.nspname !~ '^pg_(toast|temp)'
