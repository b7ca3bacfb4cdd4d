//go:build linux && race

package soak_test

const raced = true
