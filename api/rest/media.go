package rest

import (
	"mime"
	"net/http"
	"sort"
	"strconv"
	"strings"

	"basalt/query/catalog"
)

// media is what an answer is written as.
type media byte

const (
	mediaJSON   media = iota // an array of objects
	mediaObject              // application/vnd.pgrst.object+json: exactly one object
	mediaCSV
	mediaNDJSON // one object a line
	mediaText   // the bare text of a scalar result
	mediaXML    // the same of xml
	mediaBinary // the same of bytea
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
	case mediaXML:
		return "text/xml; charset=utf-8"
	case mediaBinary:
		return "application/octet-stream"
	}
	if f.stripped {
		return "application/vnd.pgrst.array+json" + parameters
	}
	return "application/json; charset=utf-8"
}

// bareType is the type of PostgreSQL's own whose values a format writes as they are, "" when it takes any result.
func (f format) bareType() string {
	switch f.media {
	case mediaText:
		return "text"
	case mediaXML:
		return "xml"
	case mediaBinary:
		return "bytea"
	}
	return ""
}

// isBare says that there is no JSON around the value.
func (f format) isBare() bool { return f.bareType() != "" }

// offers are the media types that can be asked for; a new one is one row.
func offers() [10]offer {
	return [...]offer{
		{"application/json", mediaJSON, false},
		{"application/vnd.pgrst.array+json", mediaJSON, true},
		{"application/vnd.pgrst.array", mediaJSON, true},
		{"application/vnd.pgrst.object+json", mediaObject, true},
		{"application/vnd.pgrst.object", mediaObject, true},
		{"text/csv", mediaCSV, false},
		{"application/x-ndjson", mediaNDJSON, false},
		{"text/plain", mediaText, false},
		{"text/xml", mediaXML, false},
		{"application/octet-stream", mediaBinary, false},
	}
}

type offer struct {
	name  string
	media media
	nulls bool // takes nulls=stripped
}

// negotiate gives the formats that the client accepts and the server has, the best rated first (RFC 9110 §12.5.1); none
// when it takes what it gets.
func negotiate(header []string) ([]format, error) {
	if len(header) == 0 || header[0] == "*/*" || header[0] == "application/json" {
		return nil, nil
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
			if quality, err = strconv.ParseFloat(q, 64); err != nil || !(quality > 0) {
				continue
			}
		}
		if name == "*/*" || name == "application/*" {
			choices = append(choices, choice{format{}, quality})
			continue
		}
		for _, offer := range offers() {
			if offer.name == name {
				choices = append(choices, choice{format{offer.media, offer.nulls && parameters["nulls"] == "stripped"}, quality})
				break
			}
		}
	}
	if len(choices) == 0 {
		return nil, notAcceptable(header)
	}
	sort.SliceStable(choices, func(i, j int) bool { return choices[i].quality > choices[j].quality })
	formats := make([]format, len(choices))
	for i := range choices {
		formats[i] = choices[i].format
	}
	return formats, nil
}

// choose gives the best format that a statement's result can be written in.
func choose(formats []format, statement *compiled, header []string) (format, error) {
	if len(formats) == 0 {
		return format{}, nil
	}
	for _, f := range formats {
		if !f.isBare() || statement.gives(f.bareType()) {
			return f, nil
		}
	}
	return format{}, notAcceptable(header)
}

// gives says that each row of the result is one value of a type of PostgreSQL's own.
func (c *compiled) gives(typeName string) bool {
	if !c.Scalar || c.Void || c.routine.Returns.JSONCast.Name != "" {
		return false
	}
	return c.routine.Returns.Underlying().Name == catalog.Name{Schema: "pg_catalog", Name: typeName}
}

func notAcceptable(header []string) error {
	return failure(http.StatusNotAcceptable, "PGRST107", "None of these media types are available: "+strings.Join(header, ", "))
}
