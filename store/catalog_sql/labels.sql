select
  l.enumtypid,
  l.enumlabel
from pg_enum l
order by
  l.enumtypid,
  l.enumsortorder
