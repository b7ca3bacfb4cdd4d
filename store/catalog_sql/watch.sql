-- Whether every change of the schema is told on the channel basalt_ddl, and what stands for the roles and their
-- settings: no event trigger fires for those, since all databases share them.
select
  (
    select count(distinct t.evtevent) = 2
    from pg_event_trigger t
    join pg_proc p on p.oid = t.evtfoid
    where t.evtevent in ('ddl_command_end', 'sql_drop')
      and t.evtenabled in ('O', 'A')
      and p.prosrc like '%''basalt_ddl''%'
  ),
  (
    select concat(count(*), ' ', sum(hashtext(concat(m.roleid, ' ', m.member, ' ', m.xmin))))
    from pg_auth_members m
  ),
  (
    select concat(count(*), ' ', sum(hashtext(concat(s.setdatabase, ' ', s.setrole, ' ', s.xmin))))
    from pg_db_role_setting s
  )
