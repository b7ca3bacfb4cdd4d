package outbox_test

import (
	"encoding/json"
	"testing"

	"github.com/google/uuid"

	"basalt/auth"
	"basalt/auth/hook"
	"basalt/auth/outbox"
	"basalt/store/storetest"
)

const sendingFunctions = `
create table public.sent (event jsonb);
grant all on public.sent to supabase_auth_admin;
create function public.send(event jsonb) returns jsonb language plpgsql as $$
begin
  if event#>>'{user,email}' = 'refused@example.com' then
    return '{"error":{"http_code":422,"message":"not to this one"}}';
  end if;
  insert into public.sent values (event);
  return '{}';
end $$;`

// byHook delivers through the function above.
func byHook(t *testing.T, db *storetest.Database) outbox.ByHook {
	t.Helper()
	hooks := auth.Hooks{Describe: func(u *auth.User) []byte {
		text, err := json.Marshal(map[string]any{"id": u.ID, "email": u.Email, "phone": u.Phone})
		if err != nil {
			t.Error(err)
		}
		return text
	}}
	for point, h := range map[hook.Point]**hook.Hook{hook.SendEmail: &hooks.SendEmail, hook.SendSMS: &hooks.SendSMS} {
		var err error
		if *h, err = hook.New(point, "pg-functions://postgres/public/send", "", nil); err != nil {
			t.Fatal(err)
		}
	}
	return outbox.ByHook{Messenger: &auth.HookMessenger{Pool: db.Pool, Hooks: hooks, APIURL: "http://api.example/auth/v1"}}
}

func sent(t *testing.T, db *storetest.Database, path string) string {
	t.Helper()
	var text *string
	if err := db.Pool.QueryRow(t.Context(), "select event #>> $1::text[] from public.sent", path).Scan(&text); err != nil {
		t.Fatal(err)
	}
	if text == nil {
		return "NULL"
	}
	return *text
}

func TestHooksSendMails(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	db.Exec(t, sendingFunctions)
	id := uuid.New()
	if _, err := db.Pool.Exec(t.Context(), "insert into auth.users (id, email) values ($1, 'ann@example.com')", id); err != nil {
		t.Fatal(err)
	}
	d := byHook(t, db)
	p := start(t, db, outbox.Options{Mail: d, SMS: d, Together: true})
	send(t, db, p.Outbox, auth.Mail{
		Kind: auth.MailEmailChange, To: "ann@example.com", NewEmail: "anna@example.com", UserID: id,
		Token: "111111", TokenHash: "hash-1", TokenNew: "222222", TokenHashNew: "hash-2", RedirectTo: "http://site.example/x",
	})
	empty(t, db)
	for path, want := range map[string]string{
		"{user,id}": id.String(), "{user,email}": "ann@example.com",
		"{email_data,email_action_type}": "email_change", "{email_data,redirect_to}": "http://site.example/x",
		"{email_data,site_url}": "http://api.example/auth/v1",
		"{email_data,token}":    "111111", "{email_data,token_hash_new}": "hash-1",
		"{email_data,token_new}": "222222", "{email_data,token_hash}": "hash-2",
		"{metadata,name}": "send-email",
	} {
		if got := sent(t, db, path); got != want {
			t.Errorf("%s is %s, not %s", path, got, want)
		}
	}
}

func TestHooksSendTexts(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	db.Exec(t, sendingFunctions)
	d := byHook(t, db)
	if err := d.Deliver(t.Context(), &outbox.Message{Channel: outbox.Text, SMS: auth.SMS{To: "4915112345678", Code: "123456"}}); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"{sms,otp}": "123456", "{sms,phone}": "4915112345678", "{sms,channel}": "sms", "{user,phone}": "4915112345678", "{metadata,name}": "send-sms",
	} {
		if got := sent(t, db, path); got != want {
			t.Errorf("%s is %s, not %s", path, got, want)
		}
	}
}

func TestMailsThatAHookRefusesAreGivenUp(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	db.Exec(t, sendingFunctions)
	d := byHook(t, db)
	p := start(t, db, outbox.Options{Mail: d})
	send(t, db, p.Outbox, auth.Mail{Kind: auth.MailRecovery, To: "refused@example.com"})
	send(t, db, p.Outbox, auth.Mail{Kind: auth.MailRecovery, To: "gone@example.com", UserID: uuid.New()})
	until(t, "both are given up", func() bool { return count(t, db, "state = 'failed' and attempts = 1") == 2 })
}
