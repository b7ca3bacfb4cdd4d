package admin_test

import (
	"strings"
	"testing"

	"basalt/auth/administrator"
)

func TestOddInputIsRefusedAndNotFailed(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, `create table things (id int primary key, t text)`, administrator.Owner)
	for _, path := range []string{
		"/audit?action=X", "/audit?target=X", "/audit?before=9223372036854775807", "/users?search=X", "/users?provider=X", "/users?after=253402300800000000.7c6f2f3a-0000-4000-8000-000000000001",
		"/users?after=-253402300800000000.7c6f2f3a-0000-4000-8000-000000000001",
		"/ddl/impact?schema=X&table=X", "/ddl/impact?schema=public&table=things&column=X", "/ddl/impact?schema=X&type=X", "/ddl/impact?schema=X&function=X&arguments=X",
		"/auth-events?text=X", "/auth-events?before=0000-01-01T00:00:00Z_7c6f2f3a-0000-4000-8000-000000000001", "/auth-events?before=9999-12-31T23:59:59Z_7c6f2f3a-0000-4000-8000-000000000001",
		"/logs?text=X", "/logs?since=0000-01-01T00:00:00Z&until=9999-12-31T23:59:59Z", "/logs?before=9223372036854775807", "/logs?min_ms=NaN",
		"/policies/claims?role=X", "/rungs/public/X?step=100", "/rungs/X/X?step=9223372036854775807", "/rungs/public/things?step=9223372036854775807",
		"/export/public/X?format=csv", "/export/X/things?format=csv&query=X", "/export/public/things?format=csv&query=select%3DX&role=X", "/rest/things?id=eq.X", "/rest/X", "/rest/things?X=X",
		"/performance/statements?order=X", "/performance/statements?limit=0", "/performance/statements?limit=101", "/outbox?limit=X", "/outbox/X", "/users/X", "/traffic?seconds=X", "/traffic?seconds=9223372036854775807", "/overview?x=X",
		"/mail-templates/X/invite/preview/html", "/mail-templates/en/X/preview/html",
	} {
		for _, odd := range []string{"%00", "%ff", "%27%22%3B--", strings.Repeat("a", 5000), "%5C", "%F0%9F%98%80"} {
			if answer := d.call(t, "GET", strings.ReplaceAll(path, "X", odd), nil); answer.Status >= 500 {
				t.Errorf("GET %s with %.20s: %d %.300s", path, odd, answer.Status, answer.Body)
			}
		}
	}
	odd := `"\u0000\ud800\"';--"`
	for _, call := range [][3]string{
		{"POST", "/queries", `{"name":X,"sql":X,"role":X}`}, {"POST", "/queries", `{"name":"a","sql":"a","role":X}`}, {"POST", "/policies/check", `{"statements":[X]}`},
		{"POST", "/policies/test", `{"schema":X,"table":X,"role":X,"verb":"select"}`}, {"POST", "/policies/test", `{"schema":"public","table":"things","role":X,"verb":"select"}`},
		{"POST", "/policies/test", `{"schema":"public","table":"things","role":"anon","verb":"select","filter":X}`}, {"POST", "/policies/test", `{"schema":"public","table":"things","role":"anon","verb":"insert","set":{"t":X}}`},
		{"POST", "/policies/test", `{"schema":"public","table":"things","role":"anon","verb":"select","claims":{"sub":X}}`}, {"POST", "/policies/test", `{"schema":"public","table":"things","role":"anon","verb":"select","claims":[]}`},
		{"POST", "/performance/hypothetical", `{"schema":X,"table":X,"columns":[X]}`}, {"POST", "/performance/hypothetical", `{}`},
		{"POST", "/performance/advice", `{"statement":X}`}, {"POST", "/performance/advice", `{}`},
		{"POST", "/ddl", `{"statements":[X],"summary":X}`}, {"POST", "/ddl", `{"statements":["select 1"],"summary":X}`}, {"POST", "/ddl", `{"statements":["select '\u0000'"],"summary":""}`}, {"POST", "/policies/check", `{"statements":["select 1 \u0000 2"]}`}, {"POST", "/ddl", `{"statements":["",";"],"summary":""}`},
		{"POST", "/rows/public/things", `{"changes":[{"op":"insert","set":{"id":"1","t":X}}]}`}, {"POST", "/rows/public/things", `{"changes":[{"op":"update","key":{"id":X},"set":{"t":"1"}}]}`},
		{"POST", "/rows/public/things", `{"changes":[{"op":"update","key":{"id":null},"set":{"t":"1"},"was":{"t":X}}]}`}, {"POST", "/rows/public/things", `{"changes":[{}]}`}, {"POST", "/rows/public/things", `{"changes":null}`},
		{"POST", "/rest-sql", `{"method":"GET","path":X}`}, {"POST", "/rest-sql", `{"method":"POST","path":"/things","body":X,"headers":{"Prefer":X}}`}, {"POST", "/rest-sql", `{}`},
		{"POST", "/sql", `{"id":"7c6f2f3a-0000-4000-8000-000000000002","sql":X}`}, {"POST", "/sql", `{"id":"7c6f2f3a-0000-4000-8000-000000000002","sql":"select 1","role":X}`}, {"POST", "/sql", `{"id":"7c6f2f3a-0000-4000-8000-000000000002","sql":"select 1","user":X}`},
		{"PUT", "/mail-templates/en/invite", `{"subject":X,"html":X,"text":X}`}, {"POST", "/mail-templates/en/invite/preview", `{"subject":X,"html":X,"text":X}`}, {"PUT", "/mail-templates/%00/%ff", `{}`},
		{"DELETE", "/mail-templates/%00/%ff", `{}`}, {"POST", "/mail-templates/%00/%ff/test", `{}`}, {"POST", "/mail-templates/%00/%ff/preview", `{}`},
		{"POST", "/providers/custom", `{"identifier":X,"provider_type":X,"name":X}`}, {"POST", "/providers/custom", `{"identifier":"custom:a","provider_type":"oidc","name":X,"client_id":X,"client_secret":X,"issuer":"https://id.example"}`},
		{"PATCH", "/providers/custom/%00", `{}`}, {"DELETE", "/providers/custom/%ff", `{}`}, {"POST", "/providers/discover", `{"issuer":X,"discovery_url":X}`}, {"POST", "/providers/discover", `{}`},
		{"POST", "/providers/saml", `{"metadata_xml":X}`}, {"POST", "/providers/saml", `{"metadata_url":X}`}, {"POST", "/providers/saml", `{"metadata_xml":"<x/>","domains":[X],"resource_id":X}`}, {"PATCH", "/providers/saml/X", `{}`},
		{"PATCH", "/settings", `{"changes":{X:X}}`}, {"PATCH", "/settings", `{"changes":{"max-rows":"9223372036854775808"}}`}, {"PATCH", "/settings", `{}`},
		{"POST", "/settings/mail-test", `{"to":X}`}, {"POST", "/settings/mail-test", `{"changes":{"smtp-url":X,"mail-from":X}}`}, {"POST", "/settings/mail-test", `{"to":"a@b.example","changes":{X:null}}`},
		{"POST", "/users", `{"email":X,"user_metadata":X}`}, {"POST", "/users", `{"email":"a@example.com","user_metadata":"{\"a\":\"\\u0000\"}","ban_duration":"99999999h"}`}, {"POST", "/users/invite", `{"email":"b@example.com","redirect_to":X,"user_metadata":"{\"a\":\"\\ud800\"}"}`},
		{"POST", "/administrators", `{"email":X,"role":X}`}, {"PATCH", "/me", `{"password":X,"current":X}`}, {"POST", "/session/elevate", `{"code":X}`}, {"POST", "/signing-keys", `{"algorithm":X}`},
		{"DELETE", "/signing-keys/%00", ``}, {"POST", "/performance/activity/1/cancel", `{"started":X}`}, {"POST", "/me/passkeys/verify", `{"challenge_id":"7c6f2f3a-0000-4000-8000-000000000002","credential":null}`},
		{"POST", "/session/passkey/verify", `{"challenge_id":"7c6f2f3a-0000-4000-8000-000000000002","credential":{"id":X}}`}, {"POST", "/join", `{"token":X,"password":X}`}, {"POST", "/join/link", `{"token":X}`}, {"POST", "/setup", `{"token":X,"email":X,"password":X}`},
	} {
		if answer := d.call(t, call[0], call[1], strings.ReplaceAll(call[2], "X", odd)); answer.Status >= 500 {
			t.Errorf("%s %s %s: %d %.300s", call[0], call[1], call[2], answer.Status, answer.Body)
		}
	}
}
