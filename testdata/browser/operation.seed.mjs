// A database with something to say, and requests of all kinds, for the screens Home, Logs and Performance.

/** What runs in the page where it is shown other than as text. */
export const attacks = ['<img src=x onerror=window.attacked=1>', '<svg onload=window.attacked=1>', '"\'><b>quoted</b>', '\u202Egnp.evil']

export async function seed(world) {
  await world.sql(`create extension if not exists pg_stat_statements`)
  await world.sql(`create extension if not exists hypopg`).catch(() => {}) // not everywhere
  await world.sql(`
    create table customers (id int primary key, name text not null, city text);
    create table orders (id int primary key, customer_id int not null references customers (id), total numeric not null, placed_at timestamptz not null default now());
    create table "<img src=x onerror=window.attacked=1>" (id int primary key, "a""b" int references customers (id));
    create index customers_city on customers (city);
    create index customers_city_name on customers (city, name);
    insert into customers select i, 'Customer ' || i, (array['Lisbon', 'Porto', 'Faro'])[1 + i % 3] from generate_series(1, 2000) i;
    insert into orders (id, customer_id, total) select i, 1 + i % 2000, (i % 900) / 7.0 from generate_series(1, 30000) i;
    analyze;
    alter table customers enable row level security;
    create policy readable on customers for select using (true);
    grant select on customers, orders to anon, authenticated;
    create function slow_report() returns bigint language sql stable as $$ select count(*) from orders a join orders b on a.customer_id = b.customer_id $$;
    notify pgrst, 'reload schema';`)
  for (let i = 0; i < 15; i++) await world.sql('select count(*) from orders where total > 100 and customer_id = $1', [i])
  await world.sql(`select set_config('application_name', $1, false)`, [attacks[0]])
  await world.sql(`insert into auth.audit_log_entries (id, payload, created_at, ip_address) select gen_random_uuid(), json_build_object('action', action, 'actor_username', who, 'log_type', 'account'), now() - random() * interval '1 hour', '203.0.113.7'
    from unnest(array['login', 'logout', 'user_signedup', 'token_refreshed']) action, unnest($1::text[]) who`, [['ada@example.com', ...attacks]])
  await requests(world)
}

/** Sends requests as apps do. */
export async function requests(world) {
  const key = { apikey: world.keys.SUPABASE_ANON_KEY ?? world.keys.ANON_KEY, Authorization: `Bearer ${world.keys.SUPABASE_ANON_KEY ?? world.keys.ANON_KEY}` }
  const ask = (path, options = {}) => fetch(world.url + path, { ...options, headers: { ...key, ...options.headers } }).then((answer) => answer.arrayBuffer())
  for (let until = Date.now() + 20_000; Date.now() < until;) {
    const answer = await fetch(world.url + '/rest/v1/orders?limit=1', { headers: key })
    await answer.arrayBuffer()
    if (answer.ok) break
  }
  for (let round = 0; round < 6; round++) {
    await Promise.all(Array.from({ length: 12 }, (_, i) => ask(`/rest/v1/customers?select=id,name&city=eq.Porto&limit=${i + 1}&apikey=hidden-value`)))
    await Promise.all(Array.from({ length: 5 }, (_, i) => ask(`/rest/v1/orders?select=*,customers(name)&limit=20&offset=${i * 20}`)))
    await ask('/rest/v1/rpc/slow_report', { method: 'POST', body: '{}', headers: { 'Content-Type': 'application/json' } })
    await ask('/rest/v1/nothing')
    await ask('/rest/v1/orders?id=eq.x')
    await ask('/rest/v1/customers', { method: 'POST', body: '{"id":1,"name":"x"}', headers: { 'Content-Type': 'application/json' } })
    await ask('/auth/v1/token?grant_type=password', { method: 'POST', body: '{"email":"a@example.com","password":"wrong"}', headers: { 'Content-Type': 'application/json' } })
    if (round === 0) for (const attack of attacks) await ask('/' + encodeURIComponent(attack))
    await new Promise((resolve) => setTimeout(resolve, 350))
  }
}
