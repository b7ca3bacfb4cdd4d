// Package k6 runs its folder's k6 scripts, which put a server under load, against a server of its own for a moment.
package k6
