-- Mails as owners have written them in the dashboard, in the places of those of a folder and of the built-in ones.
create table basalt.mail_templates (
  -- The language's BCP 47 tag.
  language text not null,
  name text not null,
  subject text not null,
  html text not null,
  text text not null,
  -- Another one for each change, by which processes see that something has changed.
  version bigint not null generated always as identity,
  changed_at timestamptz not null default now(),
  constraint mail_templates_pkey primary key (language, name)
);

alter table basalt.mail_templates enable row level security;
revoke all on basalt.mail_templates from public;

-- What the editor shows in a frame: the HTML of a mail as it was tried last. It may be lost.
create unlogged table basalt.mail_previews (
  administrator_id uuid not null,
  language text not null,
  name text not null,
  html text not null,
  constraint mail_previews_pkey primary key (administrator_id, language, name),
  constraint mail_previews_administrator_id_fkey foreign key (administrator_id) references basalt.administrators (id) on delete cascade
);

alter table basalt.mail_previews enable row level security;
revoke all on basalt.mail_previews from public;
