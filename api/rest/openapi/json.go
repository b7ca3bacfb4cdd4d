package openapi

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"basalt/query/pgjson"
)

// value is a part of a JSON document. Objects keep the order of their members: columns are described in the order that
// the table has them.
type value interface{ append(dst []byte) []byte }

type (
	text   string
	number int64
	flag   bool
	raw    string // JSON already
	list   []value
	object []member
)

type member struct {
	key   string
	value value
}

func (t text) append(dst []byte) []byte   { return pgjson.AppendString(dst, string(t)) }
func (n number) append(dst []byte) []byte { return strconv.AppendInt(dst, int64(n), 10) }
func (f flag) append(dst []byte) []byte   { return strconv.AppendBool(dst, bool(f)) }
func (r raw) append(dst []byte) []byte    { return append(dst, r...) }

func (l list) append(dst []byte) []byte {
	dst = append(dst, '[')
	for i, v := range l {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = v.append(dst)
	}
	return append(dst, ']')
}

func (o object) append(dst []byte) []byte {
	dst = append(dst, '{')
	for i, m := range o {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(pgjson.AppendString(dst, m.key), ':')
		dst = m.value.append(dst)
	}
	return append(dst, '}')
}

// add appends a member.
func (o *object) add(key string, v value) { *o = append(*o, member{key, v}) }

// addText appends a member that is left out when there is nothing to say.
func (o *object) addText(key, s string) {
	if s != "" {
		o.add(key, text(s))
	}
}

// addList appends a list that is left out when it is empty.
func (o *object) addList(key string, l list) {
	if len(l) > 0 {
		o.add(key, l)
	}
}

// texts makes a list of strings.
func texts(strings ...string) list {
	l := make(list, len(strings))
	for i, s := range strings {
		l[i] = text(s)
	}
	return l
}

// reference points into the document: a JSON pointer (RFC 6901) as the fragment of a URL.
func reference(section, key string) object {
	key = strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
	return object{{"$ref", text("#/" + section + "/" + url.PathEscape(key))}}
}

// withReferences gives a list with references to more of a section behind it.
func withReferences(first list, section string, keys ...string) list {
	all := slices.Clone(first)
	for _, key := range keys {
		all = append(all, reference(section, key))
	}
	return all
}

// path is the address of a relation, or of a function behind rpc/.
func path(prefix, name string) string { return prefix + url.PathEscape(name) }
