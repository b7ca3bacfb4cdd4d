-- What kinds of password hashes the accounts have, from a sample of them. A sign-in for an address that nobody has takes
-- the time of one of these kinds, each as often as accounts have it: accounts that came from elsewhere with dearer or
-- cheaper hashes cannot be told by the time of a refusal. All processes read the same row, else one address would take
-- one time here and another there. A decoy has the costs of a kind and neither salt nor key of anybody.

create table if not exists basalt.password_survey (
  only_row boolean not null default true,
  taken_at timestamptz not null,
  decoys jsonb not null,
  constraint password_survey_pkey primary key (only_row),
  constraint password_survey_only_row check (only_row)
);

alter table basalt.password_survey enable row level security;
revoke all on basalt.password_survey from public;

insert into basalt.password_survey (taken_at, decoys)
values ('-infinity', '{}')
on conflict do nothing;
