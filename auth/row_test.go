package auth

import (
	"testing"
	"time"

	"basalt/store/storetest"
)

func TestRowsAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	db.Exec(t, `
		insert into auth.users (id, email, raw_app_meta_data, raw_user_meta_data, banned_until, created_at, last_sign_in_at, is_anonymous)
		values ('00000000-0000-4000-8000-000000000001', 'a@example.com', '[1]', '{"a": "é\"", "n": 1.10}', 'infinity', '1999-12-31 23:59:59.999999+00', '-infinity', true);
		insert into auth.identities (id, provider_id, user_id, identity_data, provider, created_at)
		values
			('00000000-0000-4000-8000-00000000000c', 'c', '00000000-0000-4000-8000-000000000001', '{"email": "C@example.com"}', 'google', null),
			('00000000-0000-4000-8000-00000000000b', 'b', '00000000-0000-4000-8000-000000000001', '{}', 'email', '2020-01-02'),
			('00000000-0000-4000-8000-00000000000a', 'a', '00000000-0000-4000-8000-000000000001', '{}', 'apple', '2020-01-02');
		insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, created_at, updated_at, secret)
		values ('00000000-0000-4000-8000-00000000000f', '00000000-0000-4000-8000-000000000001', null, 'totp', 'verified', '2021-01-02', '2021-01-03', 'x')`)
	u, err := scanUser(db.Pool.QueryRow(t.Context(), userByID, "00000000-0000-4000-8000-000000000001"))
	if err != nil {
		t.Fatal(err)
	}
	if u.ID.String() != "00000000-0000-4000-8000-000000000001" || u.Email != "a@example.com" || u.Phone != "" || u.Audience != "" ||
		string(u.AppMetadata) != `{}` || string(u.UserMetadata) != `{"a": "é\"", "n": 1.10}` || !u.Anonymous || !u.banned ||
		u.BannedUntil.Year() != 9999 || !u.CreatedAt.Equal(time.Date(1999, 12, 31, 23, 59, 59, 999999000, time.UTC)) || u.UpdatedAt != nil || !u.LastSignInAt.IsZero() {
		t.Errorf("the account is %+v", u)
	}
	order := ""
	for _, i := range u.Identities {
		order += i.ProviderID
	}
	if order != "abc" || u.Identities[2].Email != "c@example.com" || string(u.Identities[2].Data) != `{"email": "C@example.com"}` || u.Identities[2].CreatedAt != nil {
		t.Errorf("the identities are %s %+v", order, u.Identities)
	}
	if len(u.Factors) != 1 || u.Factors[0].Type != "totp" || u.Factors[0].FriendlyName != "" || !u.hasVerifiedFactor() || u.Factors[0].UpdatedAt.Day() != 3 {
		t.Errorf("the factors are %+v", u.Factors)
	}
}

func TestRowsOfAnotherShapeAreRefused(t *testing.T) {
	t.Parallel()
	for name, values := range map[string][][]byte{
		"a column too few":   {},
		"a short id":         {[]byte("short")},
		"an array cut short": {make([]byte, 16), {0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 25, 0, 0, 0, 9, 0, 0, 0, 1, 0, 0}},
	} {
		r := &row{values: values}
		r.id()
		r.records(func(r *row) { r.text() })
		if r.err == nil {
			t.Errorf("%s passes", name)
		}
	}
}
