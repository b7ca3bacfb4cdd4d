package web_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"basalt/web"
)

// The list of libraries is written by `make web-types` and fails here when it is not what is linked.
func TestTheLibrariesAreListedWithTheirLicences(t *testing.T) {
	found := append(goLibraries(t), npmLibraries(t)...)
	slices.SortFunc(found, func(a, b web.Library) int { return strings.Compare(a.Name, b.Name) })
	for _, library := range found {
		if library.Licence == "" {
			t.Errorf("%s %s: its licence is not known: name it here or do without the library", library.Name, library.Version)
		}
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(found); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("licences.json", text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !slices.Equal(web.Libraries(), found) {
		t.Error("licences.json is not what is linked: run make web-types")
	}
}

// goLibraries are the modules of the packages that are linked into the binary.
func goLibraries(t *testing.T) []web.Library {
	t.Helper()
	command := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}", "basalt")
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	lines := slices.Compact(slices.Sorted(strings.Lines(string(out))))
	var list []web.Library
	for _, line := range lines {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			continue
		}
		list = append(list, web.Library{fields[0], fields[1], licenceIn(t, fields[2])})
	}
	return list
}

// npmLibraries are the packages whose code is in dist, with those that they need.
func npmLibraries(t *testing.T) []web.Library {
	t.Helper()
	var lock struct {
		Packages map[string]struct {
			Version, License string
			Dependencies     map[string]string
		}
	}
	text, err := os.ReadFile("package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	var list []web.Library
	var add func(name string)
	add = func(name string) {
		found, ok := lock.Packages["node_modules/"+name]
		if seen[name] || !ok || strings.HasPrefix(name, "@types/") {
			return
		}
		seen[name] = true
		list = append(list, web.Library{name, found.Version, found.License})
		if name == "svelte" {
			return // what its compiler needs is not in dist
		}
		for needed := range found.Dependencies {
			add(needed)
		}
	}
	for name := range lock.Packages[""].Dependencies {
		add(name)
	}
	add("lucide-static") // the icons are drawn from it
	return list
}

// licenceIn tells the licence of a module by words that stand in no other's.
func licenceIn(t *testing.T, folder string) string {
	t.Helper()
	for _, name := range []string{"LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE", "COPYING", "license", "LICENSE-APACHE-2.0"} {
		raw, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			continue
		}
		text := strings.Join(strings.Fields(string(raw)), " ")
		has := func(words string) bool { return strings.Contains(text, words) }
		switch {
		case has("Apache License") && has("Version 2.0"):
			return "Apache-2.0"
		case has("Mozilla Public License"):
			return "MPL-2.0"
		case has("Permission is hereby granted, free of charge"):
			return "MIT"
		case has("Permission to use, copy, modify, and/or distribute") || has("Permission to use, copy, modify, and distribute"):
			return "ISC"
		case has("Redistribution and use in source and binary forms"):
			if has("Neither the name") || has("may be used to endorse") || has("nor the names") {
				return "BSD-3-Clause"
			}
			return "BSD-2-Clause"
		case has("put into the public domain"):
			return "public domain"
		}
	}
	return ""
}
