package rest

import (
	"mime"
	"net/http"
	"sort"
	"strconv"
	"strings"
)

// media is what an answer is written as.
type media byte

const (
	mediaJSON   media = iota // an array of objects
	mediaObject              // application/vnd.pgrst.object+json: exactly one object
	mediaCSV
	mediaNDJSON // one object a line
	mediaText   // the bare text of a scalar result
	mediaBinary // the bytes of a scalar bytea result
)

// format is a negotiated media type with its parameters.
type format struct {
	media    media
	stripped bool // nulls=stripped
}

func (f format) contentType() string {
	parameters := "; charset=utf-8"
	if f.stripped {
		parameters = "; nulls=stripped; charset=utf-8"
	}
	switch f.media {
	case mediaObject:
		return "application/vnd.pgrst.object+json" + parameters
	case mediaCSV:
		return "text/csv; charset=utf-8"
	case mediaNDJSON:
		return "application/x-ndjson; charset=utf-8"
	case mediaText:
		return "text/plain; charset=utf-8"
	case mediaBinary:
		return "application/octet-stream"
	}
	if f.stripped {
		return "application/vnd.pgrst.array+json" + parameters
	}
	return "application/json; charset=utf-8"
}

// offers are the media types that can be asked for; a new one is one row.
var offers = []struct {
	name     string
	media    media
	nulls    bool // takes nulls=stripped
	callOnly bool // only of a routine's scalar result
}{
	{"application/json", mediaJSON, false, false},
	{"application/vnd.pgrst.array+json", mediaJSON, true, false},
	{"application/vnd.pgrst.array", mediaJSON, true, false},
	{"application/vnd.pgrst.object+json", mediaObject, true, false},
	{"application/vnd.pgrst.object", mediaObject, true, false},
	{"text/csv", mediaCSV, false, false},
	{"application/x-ndjson", mediaNDJSON, false, false},
	{"text/plain", mediaText, false, true},
	{"application/octet-stream", mediaBinary, false, true},
}

// negotiate picks the answer's format: of what the client accepts, the best rated that is offered (RFC 9110 §12.5.1).
func negotiate(header []string, call bool) (format, error) {
	if len(header) == 0 || header[0] == "*/*" || header[0] == "application/json" {
		return format{}, nil
	}
	type choice struct {
		format  format
		quality float64
	}
	var choices []choice
	for _, element := range strings.Split(strings.Join(header, ","), ",") {
		name, parameters, err := mime.ParseMediaType(element)
		if err != nil {
			continue
		}
		quality := 1.0
		if q, ok := parameters["q"]; ok {
			if quality, err = strconv.ParseFloat(q, 64); err != nil || quality <= 0 {
				continue
			}
		}
		if name == "*/*" || name == "application/*" {
			choices = append(choices, choice{format{}, quality})
			continue
		}
		for _, offer := range offers {
			if offer.name == name && (call || !offer.callOnly) {
				stripped := offer.nulls && parameters["nulls"] == "stripped"
				choices = append(choices, choice{format{offer.media, stripped}, quality})
				break
			}
		}
	}
	if len(choices) == 0 {
		return format{}, failure(http.StatusNotAcceptable, "PGRST107",
			"None of these media types are available: "+strings.Join(header, ", "))
	}
	sort.SliceStable(choices, func(i, j int) bool { return choices[i].quality > choices[j].quality })
	return choices[0].format, nil
}
