package storetest_test

import (
	"testing"

	"basalt/store/storetest"
)

func TestEachTestHasItsOwnDatabaseWithTheSystemSchema(t *testing.T) {
	first, second := storetest.New(t), storetest.New(t)
	first.Exec(t, `create table public.only_here (id int)`)
	var here, there, users bool
	err := first.Pool.QueryRow(t.Context(), `
		select to_regclass('public.only_here') is not null, to_regclass('auth.users') is not null`).Scan(&here, &users)
	if err != nil || !here || !users {
		t.Fatalf("own table %v, auth.users %v, %v", here, users, err)
	}
	err = second.Pool.QueryRow(t.Context(), `select to_regclass('public.only_here') is not null`).Scan(&there)
	if err != nil || there {
		t.Fatalf("the table of one test is visible to another: %v %v", there, err)
	}
}

func TestManyTestsMayStartAtOnce(t *testing.T) {
	for range 6 {
		t.Run("in parallel", func(t *testing.T) {
			t.Parallel()
			storetest.New(t)
		})
	}
}
