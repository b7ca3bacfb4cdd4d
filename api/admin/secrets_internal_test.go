package admin

import "testing"

func TestSQLThatMayHoldAPasswordIsRecognized(t *testing.T) {
	t.Parallel()
	for sql, tells := range map[string]bool{
		`alter role app password 'hunter2'`:                                           true,
		`update auth.users set encrypted_password = crypt('hunter2', gen_salt('bf'))`: true,
		`insert into members (email, password) values ('a@example.com', 'hunter2')`:   true,
		`select vault.create_secret('hunter2', 'name')`:                               true,
		`select vault.update_secret(id, $a$hunter2$a$) from vault.secrets`:            true,
		`create subscription s connection 'host=db password=hunter2' publication p`:   true,
		`select dblink_connect('dbname=x user=y password=hunter2')`:                   true,
		`select pgp_sym_encrypt('text', 'hunter2')`:                                   true,
		`select id from members where email = 'a@example.com'`:                        false,
		`insert into notes (title) values ('a')`:                                      false,
		`create policy p on members using (owner = auth.uid())`:                       false,
		`select crypt($1, salt) from members`:                                         false,
		`alter table members add column password_changed_at timestamptz`:              false,
	} {
		if tellsSecret(sql) != tells {
			t.Errorf("%s: %t", sql, !tells)
		}
	}
}
