// A client that uses the generated types: tsc must take every right use and refuse every wrong one.
import { createClient } from '@supabase/supabase-js'
import {
  Constants, type CompositeTypes, type Database, type Enums, type Json, type Tables, type TablesInsert, type TablesUpdate,
} from './database'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
function same<A, B>(_: Same<A, B>) {}

const db = createClient<Database>('http://127.0.0.1', 'key')

export async function reads() {
  const { data: cities } = await db.from('cities').select('id,name,population,mood,spot,tags').throwOnError()
  same<typeof cities, {
    id: number
    name: string
    population: number | null
    mood: 'sad' | 'ok'
    spot: { x: number | null; y: number | null } | null
    tags: string[] | null
  }[]>(true)
  const { data: one } = await db.from('cities').select('name').eq('id', 1).single().throwOnError()
  same<typeof one, { name: string }>(true)

  const { data: up } = await db.from('cities').select('name,countries(name)').throwOnError()
  same<typeof up[0]['countries'], { name: string }>(true)
  const { data: down } = await db.from('countries').select('name,cities(name)').throwOnError()
  same<typeof down[0]['cities'], { name: string }[]>(true)
  const { data: sheet } = await db.from('countries').select('name,sheets(area)').throwOnError()
  same<typeof sheet[0]['sheets'], { area: number | null } | null>(true)
  const { data: shown } = await db.from('big_cities').select('name,loud').throwOnError()
  same<typeof shown, { name: string | null; loud: string | null }[]>(true)
  const { data: computed } = await db.from('cities').select('name,shout').throwOnError()
  same<typeof computed, { name: string; shout: string | null }[]>(true)
  const { data: other } = await db.schema('shop').from('orders').select('total').throwOnError()
  same<typeof other, { total: number }[]>(true)

  // @ts-expect-error there is no such table
  db.from('villages')
  // @ts-expect-error there is no such schema
  db.schema('private')
  // @ts-expect-error there is no such column
  db.from('cities').select('name').eq('nme', 'x')
  const { data: wrong } = await db.from('cities').select('name,streets(name)').throwOnError()
  // @ts-expect-error there is no such relationship
  wrong[0].streets.name
  const { data: unknown } = await db.from('cities').select('nme').throwOnError()
  // @ts-expect-error there is no such column
  unknown[0].nme.length
}

export async function writes() {
  await db.from('cities').insert({ name: 'Gent', country: 'BE' })
  await db.from('cities').insert([{ name: 'Gent', country: 'BE', mood: 'ok', extra: { a: [1, null] }, spot: { x: 1, y: null } }])
  await db.from('cities').update({ population: null, tags: ['a'] }).eq('id', 1)
  await db.from('countries').upsert({ code: 'BE', name: 'Belgium' }).maxAffected(1)
  await db.from('big_cities').update({ name: 'x' }).eq('name', 'y')

  // @ts-expect-error the country is missing
  await db.from('cities').insert({ name: 'Gent' })
  // @ts-expect-error a number is no name
  await db.from('cities').insert({ name: 1, country: 'BE' })
  // @ts-expect-error the key is generated always
  await db.from('cities').insert({ id: 1, name: 'Gent', country: 'BE' })
  // @ts-expect-error the column is generated
  await db.from('cities').update({ upper_name: 'X' })
  // @ts-expect-error the name is never null
  await db.from('cities').update({ name: null })
  // @ts-expect-error there is no such mood
  await db.from('cities').update({ mood: 'angry' })
  // @ts-expect-error there is no such column
  await db.from('cities').update({ nme: 'x' })
  // @ts-expect-error an expression of a view cannot be written
  await db.from('big_cities').update({ loud: 'x' })
  // @ts-expect-error nothing can be written to this view
  await db.from('counts').insert({ n: 1 })
}

export async function calls() {
  const { data: sum } = await db.rpc('add', { a: 1, b: 2 }).throwOnError()
  same<typeof sum, number>(true)
  const { data: joined } = await db.rpc('add', { a: 'x', b: 'y' }).throwOnError()
  same<typeof joined, string>(true)
  const { data: rows } = await db.rpc('cities_of', { code: 'BE' }).select('name').throwOnError()
  same<typeof rows, { name: string }[]>(true)
  const { data: table } = await db.rpc('listed', {}).throwOnError()
  same<typeof table, { id: number; name: string }[]>(true)
  const { data: pair } = await db.rpc('halves', { n: 3 }).throwOnError()
  same<typeof pair, { high: number; low: number }>(true)
  const { data: nothing } = await db.rpc('nothing').throwOnError()
  same<typeof nothing, undefined>(true)

  // @ts-expect-error there is no such function
  await db.rpc('subtract', { a: 1 })
  // @ts-expect-error an argument is missing
  await db.rpc('cities_of', {})
  // @ts-expect-error an argument has another type
  await db.rpc('cities_of', { code: 1 })
}

export function names() {
  same<Tables<'countries'>, { code: string; name: string }>(true)
  same<Tables<{ schema: 'shop' }, 'orders'>['total'], number>(true)
  same<Tables<'big_cities'>['name'], string | null>(true)
  same<TablesInsert<'countries'>, { code: string; name: string }>(true)
  same<TablesUpdate<'countries'>, { code?: string; name?: string }>(true)
  same<Enums<'mood'>, 'sad' | 'ok'>(true)
  same<Enums<{ schema: 'shop' }, 'state'>, 'open' | 'paid'>(true)
  same<CompositeTypes<'place'>, { x: number | null; y: number | null }>(true)
  same<typeof Constants.public.Enums.mood, readonly ['sad', 'ok']>(true)
  const json: Json = { a: [1, 'x', null, true] }
  const mood: Enums<'mood'> = Constants.public.Enums.mood[0]
  // @ts-expect-error a function is no JSON
  const bad: Json = () => 1
  // @ts-expect-error there is no such table
  type None = Tables<'villages'>
  // @ts-expect-error there is no such table in that schema
  type Nowhere = Tables<{ schema: 'shop' }, 'cities'>
  // @ts-expect-error views are not inserted into by this name
  type View = TablesInsert<'big_cities'>
  return [json, mood, bad] satisfies unknown[] as [None?, Nowhere?, View?]
}
