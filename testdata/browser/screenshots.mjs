// Takes pictures of all screens, in both schemes and at all widths, into the folder screenshots.
import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { screens, seed } from './screens.mjs'
import { schemes, settled, start, widths } from './world.mjs'

const folder = fileURLToPath(new URL('./screenshots/', import.meta.url))
const only = process.argv.slice(2)
mkdirSync(folder, { recursive: true })
const world = await start()
try {
  const wanted = screens.filter(({ name }) => only.length === 0 || only.includes(name))
  await seed(world, wanted)
  for (const { name, path, signedIn = true, prepare } of wanted) {
    for (const width of widths) {
      for (const scheme of schemes) {
        const page = await world.open(path, { width, scheme, signedIn, height: width < 500 ? 740 : 900 })
        await prepare?.(page, world)
        await settled(page)
        await page.screenshot({ path: `${folder}${name}-${width}-${scheme}.png` })
        await world.close(page)
      }
    }
    console.log(name)
  }
} finally {
  await world.stop()
}
