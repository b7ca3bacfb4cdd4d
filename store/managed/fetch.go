package managed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	embedded "github.com/fergusstrange/embedded-postgres"
	"github.com/rs/zerolog"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

const (
	newestFetchable = 18
	partialPrefix   = ".partial-"
	connectTimeout  = 15 * time.Second
	stallTimeout    = 30 * time.Second // a download that brings nothing for so long is given up
	maxArchive      = 256 << 20        // the archives are 10 to 20 MiB
)

// release is the version that the embedded-postgres module offers of a major version.
func release(major int) (embedded.PostgresVersion, bool) {
	switch major {
	case 18:
		return embedded.V18, true
	case 17:
		return embedded.V17, true
	case 16:
		return embedded.V16, true
	case 15:
		return embedded.V15, true
	case 14:
		return embedded.V14, true
	}
	return "", false
}

// knownMinor is the newest minor release of a major version that this Basalt knows of.
func knownMinor(major int) int {
	version, ok := release(major)
	if !ok {
		return 0
	}
	parts := strings.Split(string(version), ".")
	minor, err := strconv.Atoi(parts[1])
	if err != nil {
		return 0
	}
	return minor
}

// repositoryURL is where the embedded-postgres module downloads from. The module keeps the address in a private field
// and its own download offers neither progress, nor cancelling, nor a checksum that must be there; reading the address
// from it, rather than stating it again here, leaves one place that decides what is downloaded from where.
func repositoryURL() (*url.URL, error) {
	field := reflect.ValueOf(embedded.DefaultConfig()).FieldByName("binaryRepositoryURL")
	if field.Kind() != reflect.String {
		return nil, errors.New("the embedded-postgres module does not name its repository")
	}
	u, err := url.Parse(field.String())
	if err != nil || u.Scheme != "https" {
		return nil, fmt.Errorf("the embedded-postgres module names no https repository: %q", field.String())
	}
	return u, nil
}

// platform is how the repository names this machine.
func platform() string {
	arch := runtime.GOARCH
	if arch == "arm64" {
		arch = "arm64v8"
	}
	if _, err := os.Stat("/etc/alpine-release"); runtime.GOOS == "linux" && err == nil {
		arch += "-alpine" // linked with musl
	}
	return runtime.GOOS + "-" + arch
}

// fetchedBinaries takes a major version (0: the newest) from the cache, or downloads it there.
func fetchedBinaries(ctx context.Context, o Options, runAs account, major int) (Binaries, error) {
	if major == 0 {
		major = newestFetchable
	}
	version, ok := release(major)
	if !ok {
		return Binaries{}, fmt.Errorf("there is no download of PostgreSQL %d", major)
	}
	cache, err := cacheFolder(o.CacheDir, runAs)
	if err != nil {
		return Binaries{}, err
	}
	home := filepath.Join(cache, fmt.Sprintf("%s-%s", version, platform()))
	if b, ok := cachedBinaries(ctx, home, runAs); ok {
		return b, nil
	}
	if o.NoFetch {
		return olderRelease(ctx, cache, major, runAs, errors.New("downloads are switched off"))
	}
	f := fetcher{
		cache:    cache,
		home:     home,
		version:  string(version),
		progress: o.Progress,
		log:      o.Log,
		client:   downloadClient(),
	}
	if err := f.fetch(ctx); err != nil {
		return olderRelease(ctx, cache, major, runAs, err)
	}
	b, ok := cachedBinaries(ctx, home, runAs)
	if !ok {
		return Binaries{}, fmt.Errorf("the downloaded PostgreSQL %s in %s does not run on this machine", version, home)
	}
	return b, nil
}

func cachedBinaries(ctx context.Context, home string, runAs account) (Binaries, bool) {
	b, ok := inspect(ctx, filepath.Join(home, "bin"), runAs)
	b.Fetched = true
	return b, ok
}

// olderRelease takes an earlier minor release of the same major version from the cache when the newest cannot be had:
// a new Basalt without a network goes on with what the old one had fetched.
func olderRelease(ctx context.Context, cache string, major int, runAs account, fetchErr error) (Binaries, error) {
	homes, err := filepath.Glob(filepath.Join(cache, fmt.Sprintf("%d.*-%s", major, platform())))
	if err != nil {
		return Binaries{}, err
	}
	var cached []Binaries
	for _, home := range homes {
		if b, ok := cachedBinaries(ctx, home, runAs); ok {
			cached = append(cached, b)
		}
	}
	if b, ok := newest(cached, major); ok {
		return b, nil
	}
	return Binaries{}, fetchErr
}

// cacheFolder is the user's cache folder; root's is often closed to the account that PostgreSQL runs as, then it is
// the machine's.
func cacheFolder(dir string, runAs account) (string, error) {
	asked := dir != ""
	if !asked {
		base, err := os.UserCacheDir()
		if err != nil {
			base = "/var/cache"
		}
		dir = filepath.Join(base, "basalt", "postgres")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if !asked && runAs.switched && !runAs.reachesOnceMade(dir) {
		dir = "/var/cache/basalt/postgres"
	}
	if err := makeOpenParents(dir); err != nil {
		return "", fmt.Errorf("cannot make the cache folder: %w", err)
	}
	if !runAs.reaches(dir) {
		return "", fmt.Errorf("user %s, as whom PostgreSQL runs when Basalt is root, cannot reach the cache folder %s", runAs.name, dir)
	}
	return dir, nil
}

func downloadClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Timeout: connectTimeout}).DialContext
	transport.ResponseHeaderTimeout = stallTimeout
	return &http.Client{Transport: transport}
}

// fetcher brings one release into the cache. Everything is made under a temporary name in the cache and renamed when
// it is whole, so a killed download leaves nothing that could be taken for a PostgreSQL.
type fetcher struct {
	cache, home, version string
	progress             io.Writer
	log                  zerolog.Logger
	client               *http.Client
}

func (f fetcher) fetch(ctx context.Context) error {
	unlock, err := f.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if isProgram(filepath.Join(f.home, "bin", "postgres")) {
		return nil // another process brought it while this one waited
	}
	if err := f.removePartials(); err != nil {
		return err
	}
	room, err := os.MkdirTemp(f.cache, partialPrefix)
	if err != nil {
		return fmt.Errorf("cannot write to the cache folder: %w", err)
	}
	defer os.RemoveAll(room)

	started := time.Now()
	archive := filepath.Join(room, "archive")
	if err := f.download(ctx, archive); err != nil {
		return err
	}
	tree := filepath.Join(room, "tree")
	if err := unpackArchive(archive, tree); err != nil {
		return fmt.Errorf("cannot unpack PostgreSQL %s: %w", f.version, err)
	}
	if err := os.RemoveAll(f.home); err != nil {
		return err
	}
	if err := os.Rename(tree, f.home); err != nil {
		return err
	}
	f.log.Info().Str("version", f.version).Str("folder", f.home).
		Int64("duration_ms", time.Since(started).Milliseconds()).Msg("PostgreSQL downloaded")
	return nil
}

// lock lets one process at a time fetch; others wait and find the result.
func (f fetcher) lock(ctx context.Context) (unlock func(), err error) {
	file, err := os.OpenFile(filepath.Join(f.cache, ".lock"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("cannot write to the cache folder: %w", err)
	}
	err = poll(ctx, func() (bool, error) {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("lock the cache folder: %w", err)
	}
	return func() { file.Close() }, nil
}

// removePartials clears what killed downloads left; the lock says that nobody works in them.
func (f fetcher) removePartials() error {
	left, err := filepath.Glob(filepath.Join(f.cache, partialPrefix+"*"))
	if err != nil {
		return err
	}
	for _, dir := range left {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}

// download writes the archive to a file and compares it with the checksum that the repository publishes beside it.
func (f fetcher) download(ctx context.Context, path string) error {
	base, err := repositoryURL()
	if err != nil {
		return err
	}
	name := "embedded-postgres-binaries-" + platform()
	source := base.JoinPath("io/zonky/test/postgres", name, f.version, name+"-"+f.version+".jar").String()
	want, err := f.checksum(ctx, source+".sha256")
	if err != nil {
		return err
	}
	body, size, err := f.get(ctx, source)
	if err != nil {
		return err
	}
	defer body.Close()
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	hash := sha256.New()
	bar := f.bar(size)
	if _, err := io.Copy(io.MultiWriter(file, hash, bar), io.LimitReader(body, maxArchive)); err != nil {
		return fmt.Errorf("download of PostgreSQL %s broke off: %w", f.version, err)
	}
	if err := bar.Finish(); err != nil {
		return err
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != want {
		return fmt.Errorf("download of PostgreSQL %s is damaged: SHA-256 is %s and should be %s", f.version, got, want)
	}
	return file.Close()
}

func (f fetcher) checksum(ctx context.Context, source string) (string, error) {
	body, _, err := f.get(ctx, source)
	if err != nil {
		return "", err
	}
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, 1024))
	if err != nil {
		return "", err
	}
	sum := strings.ToLower(strings.TrimSpace(string(text)))
	if raw, err := hex.DecodeString(sum); err != nil || len(raw) != sha256.Size {
		return "", fmt.Errorf("the checksum of PostgreSQL %s is malformed", f.version)
	}
	return sum, nil
}

// get begins a download that ends with an error when it stalls.
func (f fetcher) get(ctx context.Context, source string) (io.ReadCloser, int64, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, source, nil)
	if err != nil {
		cancel(nil)
		return nil, 0, err
	}
	response, err := f.client.Do(request)
	if err != nil {
		cancel(nil)
		return nil, 0, err
	}
	if response.StatusCode != http.StatusOK {
		response.Body.Close()
		cancel(nil)
		return nil, 0, fmt.Errorf("GET %s answered %s", source, response.Status)
	}
	stall := time.AfterFunc(stallTimeout, func() { cancel(errors.New("no data for " + stallTimeout.String())) })
	return &guardedBody{body: response.Body, stall: stall, cancel: cancel, ctx: ctx}, response.ContentLength, nil
}

// guardedBody is a response body whose stall timer is wound up by every read.
type guardedBody struct {
	body   io.ReadCloser
	stall  *time.Timer
	cancel context.CancelCauseFunc
	ctx    context.Context
}

func (g *guardedBody) Read(p []byte) (int, error) {
	n, err := g.body.Read(p)
	g.stall.Reset(stallTimeout)
	if err != nil && !errors.Is(err, io.EOF) && g.ctx.Err() != nil {
		err = context.Cause(g.ctx)
	}
	return n, err
}

func (g *guardedBody) Close() error {
	g.stall.Stop()
	g.cancel(nil)
	return g.body.Close()
}

// bar shows the progress on a terminal; elsewhere one log line says what is awaited.
func (f fetcher) bar(size int64) *progressbar.ProgressBar {
	file, ok := f.progress.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		f.log.Info().Str("version", f.version).Int64("bytes", size).Msg("downloading PostgreSQL")
		return progressbar.NewOptions64(size, progressbar.OptionSetVisibility(false))
	}
	return progressbar.NewOptions64(size,
		progressbar.OptionSetWriter(file),
		progressbar.OptionSetDescription("PostgreSQL "+f.version),
		progressbar.OptionShowBytes(true),
		progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)
}
