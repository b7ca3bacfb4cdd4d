-- What owners have set in the dashboard: it counts from the next start on, where nothing else gives a setting.
create table basalt.settings (
  name text not null,
  value text not null,
  changed_at timestamptz not null default now(),
  constraint settings_pkey primary key (name)
);

alter table basalt.settings enable row level security;
revoke all on basalt.settings from public;
