package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"basalt/api/bench/peers"
	"basalt/api/bench/report"
)

// largestSecret bounds a file that holds a key or an address, in bytes.
const largestSecret = 64 << 10

// valueOrFile is the value of a flag, or what the file @FILE holds: a secret on a command line is seen by all users of a
// machine.
func valueOrFile(flag, value string) (string, error) {
	path, ok := strings.CutPrefix(value, "@")
	if !ok {
		return value, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return "", usageError{fmt.Errorf("%s: %w", flag, err)}
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, largestSecret+1))
	if err != nil {
		return "", usageError{fmt.Errorf("%s: %w", flag, err)}
	}
	secret := strings.TrimSpace(string(text))
	if len(text) > largestSecret || secret == "" || strings.ContainsFunc(secret, unicode.IsControl) {
		return "", usageError{fmt.Errorf("%s: %s does not hold one line with it", flag, path)}
	}
	return secret, nil
}

// read reads what the figures are shown beside, before minutes go by.
func (f *benchFlags) read() (earlier *report.Report, beside *report.Section, err error) {
	if err := f.checkOutputs(); err != nil {
		return nil, nil, usageError{err}
	}
	if f.compare != "" {
		file, err := os.Open(f.compare)
		if err != nil {
			return nil, nil, usageError{fmt.Errorf("--compare: %w", err)}
		}
		defer file.Close()
		if earlier, err = report.Read(file); err != nil {
			return nil, nil, usageError{fmt.Errorf("--compare: %s: %w", f.compare, err)}
		}
	}
	if f.peers != "" {
		outcome, err := peers.Read(f.peers)
		if err != nil {
			return nil, nil, usageError{fmt.Errorf("--peers: %w", err)}
		}
		section := outcome.Section()
		beside = &section
	}
	return earlier, beside, nil
}

// checkOutputs refuses files that could not be written in the end, or over something else that is wanted. To compare with
// a file and replace it by the new figures is a use.
func (f *benchFlags) checkOutputs() error {
	for _, output := range []struct{ name, path string }{{"--json", f.json}, {"--report", f.report}} {
		if output.path == "" {
			continue
		}
		if err := checkWritable(output.path); err != nil {
			return fmt.Errorf("%s: %w", output.name, err)
		}
	}
	for _, pair := range []struct{ output, path, other, otherPath string }{
		{"--report", f.report, "--json", f.json}, {"--report", f.report, "--compare", f.compare},
		{"--report", f.report, "--peers", f.peers}, {"--json", f.json, "--peers", f.peers},
	} {
		if sameFile(pair.path, pair.otherPath) {
			return fmt.Errorf("%s would be written over the file of %s", pair.output, pair.other)
		}
	}
	return nil
}

// checkWritable tries a file without changing it. Pipes and devices are tried by writing only.
func checkWritable(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if folder, err := os.Stat(filepath.Dir(path)); err != nil || !folder.IsDir() {
			return fmt.Errorf("there is no folder %s", filepath.Dir(path))
		}
		trial, err := os.CreateTemp(filepath.Dir(path), ".basalt-bench-*")
		if err != nil {
			return err
		}
		return errors.Join(trial.Close(), os.Remove(trial.Name()))
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a folder", path)
	case !info.Mode().IsRegular():
		return nil
	}
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return file.Close()
}

// sameFile says whether two paths name one regular file, or will.
func sameFile(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	first, err := os.Stat(a)
	if err != nil {
		return filepath.Clean(a) == filepath.Clean(b)
	}
	second, err := os.Stat(b)
	return err == nil && first.Mode().IsRegular() && os.SameFile(first, second)
}

// write tells the figures on stdout, and puts them into the files that are wanted. What cannot be written keeps nothing
// else from being written: it took minutes to measure.
func (f *benchFlags) write(cmd *cobra.Command, outcome *report.Report) error {
	var problems []error
	if f.json != "" {
		text, err := json.MarshalIndent(outcome, "", "  ")
		if err == nil {
			err = os.WriteFile(f.json, append(text, '\n'), 0o644)
		}
		problems = append(problems, err)
	}
	if f.report != "" {
		var page bytes.Buffer
		err := outcome.WriteHTML(&page)
		if err == nil {
			err = os.WriteFile(f.report, page.Bytes(), 0o644)
		}
		problems = append(problems, err)
	}
	file, ok := cmd.OutOrStdout().(*os.File)
	colour := ok && term.IsTerminal(int(file.Fd())) && os.Getenv("NO_COLOR") == ""
	problems = append(problems, outcome.WriteText(cmd.OutOrStdout(), colour))
	return errors.Join(problems...)
}
