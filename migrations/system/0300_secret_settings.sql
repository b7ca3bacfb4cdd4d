-- Secrets that owners have set in the dashboard, sealed; the value beside is empty then.
alter table basalt.settings add column secret text;
