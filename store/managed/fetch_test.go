package managed

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

func TestWithoutAnInstalledPostgreSQLTheFetchedOneRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("downloads tens of megabytes")
	}
	dir := dataDir(t)
	o := Options{DataDir: dir, NoSystem: true, Log: zerolog.New(zerolog.NewTestWriter(t))}
	s, err := Start(context.Background(), o)
	var unreachable *url.Error
	var timeout net.Error
	if errors.As(err, &unreachable) || errors.As(err, &timeout) {
		t.Skipf("no network: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop(testContext(t)) })
	want, _ := release(newestFetchable)
	if got := queryText(t, s.URL(), `select current_setting('server_version')`); got != s.Version() || !strings.HasPrefix(string(want), got+".") {
		t.Errorf("server %s, version %s, want %s", got, s.Version(), want)
	}
	execSQL(t, s.URL(), `create extension pgcrypto; create extension "uuid-ossp"; create extension pg_trgm; create extension citext`)
	if got := queryText(t, s.URL(), `select lower('ÉÅ')`); got != "éå" {
		t.Errorf("lower case is %q", got)
	}
	mustStop(t, s)

	// The cache is enough from now on, and the cluster decides, whatever is installed.
	o.NoFetch, o.NoSystem = true, false
	again, err := FindBinaries(t.Context(), o)
	if err != nil || again.Version != s.Version() {
		t.Errorf("from the cache: %+v %v", again, err)
	}
	if !again.Fetched {
		return // this machine has the same major version
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(again.BinDir)), partialPrefix+"*")); len(left) > 0 {
		t.Errorf("partial downloads are left: %v", left)
	}
}

func TestTheModuleNamesItsRepository(t *testing.T) {
	t.Parallel()
	if _, err := repositoryURL(); err != nil {
		t.Fatal(err)
	}
	if _, ok := release(newestFetchable); !ok {
		t.Errorf("there is no release of %d", newestFetchable)
	}
	if _, ok := release(newestFetchable + 1); ok {
		t.Errorf("%d is not the newest", newestFetchable)
	}
}

func TestUnpackTreeRefusesWhatLeadsOutOfIt(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		entry tar.Header
		want  string
	}{
		"a parent folder":    {tar.Header{Name: "../evil", Typeflag: tar.TypeReg}, "leads out"},
		"an absolute name":   {tar.Header{Name: "/tmp/evil", Typeflag: tar.TypeReg}, "leads out"},
		"a link to a parent": {tar.Header{Name: "lib/evil", Typeflag: tar.TypeSymlink, Linkname: "../../evil"}, "leads out"},
		"an absolute link":   {tar.Header{Name: "lib/evil", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}, "leads out"},
		"a giant":            {tar.Header{Name: "giant", Typeflag: tar.TypeReg, Size: maxUnpacked + 1}, "too large"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var archive bytes.Buffer
			if err := tar.NewWriter(&archive).WriteHeader(&c.entry); err != nil {
				t.Fatal(err)
			}
			err := unpackTree(&archive, filepath.Join(t.TempDir(), "tree"))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestUnpackTreeKeepsProgramsAndLinks(t *testing.T) {
	t.Parallel()
	var archive bytes.Buffer
	writer := tar.NewWriter(&archive)
	for _, entry := range []tar.Header{
		{Name: "./bin/", Typeflag: tar.TypeDir, Mode: 0o700},
		{Name: "./bin/postgres", Typeflag: tar.TypeReg, Mode: 0o700, Size: 4},
		{Name: "./lib/libpq.so.5", Typeflag: tar.TypeReg, Mode: 0o600, Size: 4},
		{Name: "./lib/libpq.so", Typeflag: tar.TypeSymlink, Linkname: "libpq.so.5"},
	} {
		if err := writer.WriteHeader(&entry); err != nil {
			t.Fatal(err)
		}
		if _, err := writer.Write([]byte("text")[:entry.Size]); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	tree := filepath.Join(t.TempDir(), "tree")
	if err := unpackTree(&archive, tree); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{"": 0o755, "bin": 0o755, "bin/postgres": 0o755, "lib/libpq.so.5": 0o644, "lib/libpq.so": 0o644} {
		if got := mode(t, filepath.Join(tree, path)); got != want {
			t.Errorf("%s has mode %04o, want %04o", path, got, want)
		}
	}
}
