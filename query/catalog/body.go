package catalog

// Callable says whether requests can give a routine its arguments: by their names, or the body as the only one.
func (r *Routine) Callable() bool {
	for i := range r.Args {
		if r.Args[i].Name == "" {
			return r.TakesBody()
		}
	}
	return true
}

// TakesBody says that the whole body of a request can be the routine's only argument.
func (r *Routine) TakesBody() bool {
	return len(r.Args) == 1 && r.Args[0].Name == "" && r.Args[0].Type.BodyType() != ""
}

// BodyType is the media type of bodies that become a value of a type, "" when none do.
func (t *Type) BodyType() string {
	if t.Name.Schema != systemSchema {
		return ""
	}
	switch t.Name.Name {
	case "json", "jsonb":
		return "application/json"
	case "text":
		return "text/plain"
	case "xml":
		return "text/xml"
	case "bytea":
		return "application/octet-stream"
	}
	return ""
}
