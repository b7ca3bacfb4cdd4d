const state = document.getElementById('state');
const rows = document.getElementById('parts');

document.getElementById('snippet').textContent = `import { createClient } from '@supabase/supabase-js'

const db = createClient('${location.origin}', ANON_KEY)
await db.auth.signUp({ email, password })
const { data } = await db.from('notes').select()`;

async function refresh() {
  try {
    const answer = await fetch('/health/ready');
    const { ready, parts } = await answer.json();
    state.textContent = ready ? 'The server is ready.' : 'The server is not ready.';
    rows.replaceChildren(...Object.entries(parts).map(([name, part]) => {
      const row = document.createElement('tr');
      row.insertCell().textContent = name;
      const cell = row.insertCell();
      cell.textContent = part.ok ? 'working' : part.reason;
      cell.className = part.ok ? '' : 'bad';
      return row;
    }));
  } catch {
    state.textContent = 'The server does not answer.';
  }
}

await refresh();
setInterval(refresh, 5000);
