package store_test

import "testing"

func TestFindRelationships(t *testing.T) {
	t.Parallel()
	c := load(t, richDatabase(t).URL, richOptions)
	for _, test := range []struct {
		name         string
		from, target string
		hints        []string
		want         []string
	}{
		{"a relation by its name", "remarks", "events", nil, []string{"many-to-one remarks_event event=id day=day"}},
		{"two keys to one relation are ambiguous", "people", "towns", nil, []string{
			"many-to-one people_home home=id", "many-to-one people_work work=id",
		}},
		{"the constraint decides", "people", "towns", []string{"people_work"}, []string{"many-to-one people_work work=id"}},
		{"the column decides", "people", "towns", []string{"home"}, []string{"many-to-one people_home home=id"}},
		{"the column of the other side decides", "towns", "people", []string{"work"}, []string{
			"one-to-many inverse people_work id=work",
		}},
		{"the column as target leads to views too", "people", "home", nil, []string{
			"many-to-one people_home home=id", "many-to-one people_home home=id", "many-to-one people_home home=town",
		}},
		{"a constraint as target", "remarks", "remarks_event", nil, []string{
			"many-to-one remarks_event event=id day=day",
		}},
		{"a self reference by its name is the many", "people", "people", nil, []string{
			"one-to-many self inverse people_boss_fkey id=boss",
		}},
		{"a self reference with the column as hint is the many", "people", "people", []string{"boss"}, []string{
			"one-to-many self inverse people_boss_fkey id=boss",
		}},
		{"a junction as hint", "people", "clubs", []string{"members"}, []string{
			"many-to-many members members_person_fkey id=person members_club_fkey club=id",
		}},
		{"the direction of a junction of one relation with itself", "people", "people", []string{"friends", "friends_b"}, []string{
			"many-to-many self friends friends_a id=a friends_b b=id",
		}},
		{"a computed relationship by its function", "clubs", "captain", nil, []string{"many-to-one captain()"}},
		{"a relation of another schema is not found", "people", "letters", nil, nil},
		{"a hint that fits nothing", "people", "towns", []string{"nowhere"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, r := range c.FindRelationships(public(test.from), "public", test.target, test.hints) {
				got = append(got, describeRelationship(r))
			}
			compare(t, got, test.want)
		})
	}
}
