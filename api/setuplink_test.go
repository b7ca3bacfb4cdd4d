package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"basalt/api"
	"basalt/api/apitest"
	"basalt/store/storetest"
)

// readyLine is what a server with a log of JSON says when it is ready.
type readyLine struct {
	Message  string
	APIURL   string `json:"api_url"`
	SetupURL string `json:"setup_url"`
}

// serve runs a server as the command does, until the test or stop ends it.
func serve(t *testing.T, database *storetest.Database) (ready readyLine, stop func()) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	settings := apitest.Settings(t, database.URL)
	settings.LogFormat = "json"
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- api.Serve(ctx, settings, api.Build{Version: "test"}, io.Discard, log) }()
	stop = func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("serve ended: %v", err)
		}
		log.Close()
	}
	apitest.Until(t, "the server is ready", func() bool {
		text, err := os.ReadFile(log.Name())
		if err != nil {
			t.Fatal(err)
		}
		for lines := bufio.NewScanner(strings.NewReader(string(text))); lines.Scan(); {
			var line readyLine
			if json.Unmarshal(lines.Bytes(), &line) == nil && line.Message == "ready" {
				ready = line
			}
		}
		return ready.Message == "ready"
	})
	return ready, stop
}

func TestEachStartGivesASetUpLinkUntilThereIsAnAdministrator(t *testing.T) {
	t.Parallel()
	database := storetest.New(t)
	first, stop := serve(t, database)
	stop()
	second, stop := serve(t, database)
	defer func() { stop() }()
	if first.SetupURL == "" || strings.TrimPrefix(first.SetupURL, first.APIURL) == strings.TrimPrefix(second.SetupURL, second.APIURL) {
		t.Errorf("the links are %s and %s", first.SetupURL, second.SetupURL)
	}
	token, found := strings.CutPrefix(second.SetupURL, second.APIURL+"/admin/setup#token=")
	if !found {
		t.Fatalf("the link is %s", second.SetupURL)
	}
	request, err := http.NewRequestWithContext(t.Context(), "POST", second.APIURL+"/admin/api/setup",
		strings.NewReader(fmt.Sprintf(`{"token":%q,"email":"ada@example.com","password":"correct horse battery"}`, token)))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Basalt-Dashboard", "1")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("setting up is answered %d", response.StatusCode)
	}
	stop()
	var third readyLine
	if third, stop = serve(t, database); third.SetupURL != "" {
		t.Errorf("there is an administrator, and still a link: %s", third.SetupURL)
	}
}
