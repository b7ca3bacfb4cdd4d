-- basalt: no-transaction
set lock_timeout = '5s';
create index concurrently messages_author_idx on public.messages (author);
create index concurrently if not exists "messages Body_idx" on public.messages (body);
