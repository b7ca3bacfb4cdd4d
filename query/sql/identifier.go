package sql

import "basalt/query/catalog"

// appendIdentifier quotes a name of the catalog. It is the only way for a name into SQL.
func appendIdentifier(dst []byte, name string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(name); i++ {
		if name[i] == '"' {
			dst = append(dst, '"')
		}
		dst = append(dst, name[i])
	}
	return append(dst, '"')
}

// appendName quotes a name with its schema.
func appendName(dst []byte, name catalog.Name) []byte {
	dst = appendIdentifier(dst, name.Schema)
	dst = append(dst, '.')
	return appendIdentifier(dst, name.Name)
}

// QuoteIdentifier gives a name as SQL reads it back, for what is no statement, such as a search_path.
func QuoteIdentifier(name string) string { return string(appendIdentifier(nil, name)) }
