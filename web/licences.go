package web

import (
	_ "embed"
	"encoding/json"
)

//go:embed licences.json
var licences []byte

// A Library is something that the binary or the dashboard is made with.
type Library struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Licence string `json:"licence"` // by its SPDX identifier
}

// Libraries lists what the binary and the dashboard are made with, by name.
func Libraries() []Library {
	var list []Library
	if err := json.Unmarshal(licences, &list); err != nil {
		panic(err) // the file is embedded above
	}
	return list
}
