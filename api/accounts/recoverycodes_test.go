package accounts_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"basalt/auth/password"
)

func (u *factorUser) recover(code string) answer {
	u.t.Helper()
	return u.do("POST", "/factors/recovery-codes/verify", fmt.Sprintf(`{"code":%q}`, code))
}

func TestRecoveryCodesStandInForAFactorEachOnce(t *testing.T) {
	s := start(t, options())
	u := s.newFactorUser()
	s.want(u.do("GET", "/factors/recovery-codes", ""), 404, "mfa_factor_not_found")
	s.want(u.do("POST", "/factors/recovery-codes", ""), 403, "insufficient_aal")
	s.want(u.recover("abcdefghijklmnop"), 422, "mfa_verification_failed")
	f := u.enroll("app")
	u.prove(f)
	set := s.want(u.do("POST", "/factors/recovery-codes", ""), 200, "")
	if set.str("type") != "recovery_code" || set.str("friendly_name") != "Recovery codes" || set.get("total") != 10.0 ||
		len(set.str("codes.9")) != 16 || set.get("codes.10") != nil {
		t.Errorf("the codes are %s", set.text)
	}
	for i := range 10 {
		if n := s.count(`select count(*) from auth.mfa_recovery_codes where position($1 in code_hash) > 0`, set.str(fmt.Sprint("codes.", i))); n != 0 {
			t.Fatal("a code is kept in clear")
		}
	}
	s.want(u.do("POST", "/factors/recovery-codes", ""), 422, "mfa_verified_factor_exists")

	lost := u.again(s)
	s.want(lost.do("POST", "/factors/recovery-codes", ""), 403, "insufficient_aal")
	s.want(lost.do("POST", "/factors/recovery-codes/regenerate", ""), 403, "insufficient_aal")
	s.want(lost.do("DELETE", "/factors/recovery-codes", ""), 403, "insufficient_aal")
	s.want(lost.recover(""), 400, "validation_failed")
	s.want(lost.recover("aaaaaaaaaaaaaaaa"), 422, "mfa_verification_failed")
	code := set.str("codes.3")
	typed := strings.ToUpper(code[:4]) + "-" + code[4:8] + " " + code[8:] + "\n"
	lost.adopt(lost.recover(typed))
	if lost.standing() != "aal2 mfa/recovery_code password" {
		t.Errorf("the session stands at %s", lost.standing())
	}
	s.want(lost.recover(code), 422, "mfa_verification_failed")
	if status := s.want(lost.do("GET", "/factors/recovery-codes", ""), 200, ""); status.get("total") != 10.0 || status.get("remaining") != 9.0 ||
		status.str("id") != set.str("id") || strings.Contains(status.text, "codes") {
		t.Errorf("the status is %s", status.text)
	}
	s.want(lost.do("DELETE", "/factors/"+set.str("id"), ""), 422, "validation_failed")
	s.want(lost.do("POST", "/factors/"+set.str("id")+"/challenge", ""), 400, "validation_failed")
	s.want(lost.do("DELETE", "/factors/"+f.id, ""), 422, "mfa_recovery_codes_sole_factor")

	fresh := s.want(lost.do("POST", "/factors/recovery-codes/regenerate", ""), 200, "")
	if fresh.str("id") != set.str("id") || fresh.get("total") != 10.0 || fresh.str("codes.0") == set.str("codes.0") {
		t.Errorf("the new codes are %s", fresh.text)
	}
	s.want(lost.recover(set.str("codes.5")), 422, "mfa_verification_failed")
	s.want(lost.do("DELETE", "/factors/recovery-codes", ""), 200, "")
	s.want(lost.do("DELETE", "/factors/recovery-codes", ""), 403, "insufficient_aal")
	lost.adopt(s.refresh(lost.refresh))
	if lost.standing() != "aal1 password" {
		t.Errorf("without the codes the session stands at %s", lost.standing())
	}
	s.want(u.do("DELETE", "/factors/recovery-codes", ""), 404, "mfa_factor_not_found")
	s.want(u.do("POST", "/factors/recovery-codes/regenerate", ""), 404, "mfa_factor_not_found")
	s.want(u.do("DELETE", "/factors/"+f.id, ""), 200, "")
}

func TestOneRecoveryCodeIsGoodForOneOfMany(t *testing.T) {
	s := start(t, options())
	second := startOver(t, s.db, options())
	u, _ := s.protected()
	code := s.want(u.do("POST", "/factors/recovery-codes", `{"friendly_name":"on paper"}`), 200, "").str("codes.0")
	processes := []*factorUser{u, {server: second, access: u.access}}
	var accepted, refused atomic.Int64
	var group sync.WaitGroup
	for i := range 100 {
		group.Go(func() {
			switch a := processes[i%2].recover(code); a.status {
			case 200:
				accepted.Add(1)
			case 422:
				refused.Add(1)
			default:
				t.Errorf("answered %d %s", a.status, a.text)
			}
		})
	}
	group.Wait()
	if accepted.Load() != 1 || refused.Load() != 99 {
		t.Errorf("%d accepted, %d refused", accepted.Load(), refused.Load())
	}
}

func TestRecoveryCodesThatAreMadeAtOnceAreOneSet(t *testing.T) {
	s := start(t, options())
	second := startOver(t, s.db, options())
	u, _ := s.protected()
	processes := []*factorUser{u, {server: second, access: u.access}}
	for _, path := range []string{"/factors/recovery-codes", "/factors/recovery-codes/regenerate"} {
		var group sync.WaitGroup
		var mu sync.Mutex
		var sets []answer
		for i := range 10 {
			group.Go(func() {
				a := processes[i%2].do("POST", path, "")
				if a.status != 200 && a.status != 422 {
					t.Errorf("answered %d %s", a.status, a.text)
				}
				if a.status == 200 {
					mu.Lock()
					defer mu.Unlock()
					sets = append(sets, a)
				}
			})
		}
		group.Wait()
		good := 0
		for _, set := range sets {
			if a := u.recover(set.str("codes.0")); a.status == 200 {
				good++
			}
		}
		if good != 1 {
			t.Errorf("%s: the codes of %d sets are good", path, good)
		}
		if n := s.count(`select count(*) from auth.mfa_recovery_codes`); n != 10 {
			t.Errorf("%s: %d codes are kept", path, n)
		}
	}
}

func TestGuessesAtRecoveryCodesComeToAnEnd(t *testing.T) {
	s := start(t, options())
	o := options()
	o.LimitsOff = false
	limited := startOver(t, s.db, o)
	owner, _ := s.protected()
	code := s.want(owner.do("POST", "/factors/recovery-codes", ""), 200, "").str("codes.0")
	thief := owner.again(limited)
	thief.from = "203.0.113.1"
	for range 10 {
		s.want(thief.recover("aaaaaaaaaaaaaaaa"), 422, "mfa_verification_failed")
	}
	if a := s.want(thief.recover(code), 429, "mfa_recovery_codes_locked"); a.header.Get("Retry-After") == "" {
		t.Error("nothing is said about when to come again")
	}
	thief.from = "198.51.100.1" // the owner's place
	thief.adopt(thief.recover(code))
}

func TestRecoveryCodesOfADumpAreGood(t *testing.T) {
	s := start(t, options())
	u, _ := s.protected()
	s.want(u.do("POST", "/factors/recovery-codes", ""), 200, "")
	hash, err := password.Parameters{MemoryKiB: 64, Passes: 1, Lanes: 1}.Hash("k4m2x7qp2ab7ht3z")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.Pool.Exec(t.Context(), `update auth.mfa_recovery_codes set code_hash = $1 where id = (select id from auth.mfa_recovery_codes limit 1)`, hash); err != nil {
		t.Fatal(err)
	}
	u.adopt(u.recover("K4M2-X7QP-2AB7-HT3Z"))
	s.want(u.recover("k4m2x7qp2ab7ht3z"), 422, "mfa_verification_failed")
}
