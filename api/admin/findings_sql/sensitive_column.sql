-- Columns with names of secrets in rows that all users see.
select
  n.nspname::text,
  c.relname::text,
  'table',
  c.relname::text,
  true,
  format('%s, read by %s', string_agg(distinct a.attname::text, ', '), string_agg(distinct r.rolname::text, ', ')),
  array[format('revoke select on table %I.%I from public, anon, authenticated', n.nspname, c.relname)]
  || coalesce((
    select array[format('grant select (%s) on table %I.%I to %s',
      string_agg(quote_ident(o.attname), ', ' order by o.attnum), n.nspname, c.relname, string_agg(distinct quote_ident(r.rolname), ', '))]
    from pg_attribute o
    where o.attrelid = c.oid
      and o.attnum > 0
      and not o.attisdropped
      and o.attname !~* '(^|_)(password|passwd|pwd|secret|token|api_?key|private_?key|access_?key|ssn|social_security|credit_?card|card_number|cvv|cvc|iban|pin_code|otp|salt|recovery_code)s?(_|$)'
    having count(*) > 0
  ), array[]::text[])
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
join pg_roles r on r.rolname in ('anon', 'authenticated') and has_column_privilege(r.oid, c.oid, a.attnum, 'select')
where n.nspname = any ($1::text[])
  and c.relkind in ('r', 'p')
  and a.attname ~* '(^|_)(password|passwd|pwd|secret|token|api_?key|private_?key|access_?key|ssn|social_security|credit_?card|card_number|cvv|cvc|iban|pin_code|otp|salt|recovery_code)s?(_|$)'
  and (
    not c.relrowsecurity
    or exists (
      select
      from pg_policy p
      where p.polrelid = c.oid
        and p.polpermissive
        and p.polcmd in ('*', 'r')
        and pg_get_expr(p.polqual, p.polrelid) = 'true'
        and exists (
          select
          from unnest(p.polroles) as role
          where case when role = 0 then true else pg_has_role(r.oid, role, 'usage') end
        )
    )
  )
group by n.nspname, c.relname, c.oid
order by 1, 2
limit $2
