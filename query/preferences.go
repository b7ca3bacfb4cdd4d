package query

// Preferences are what the Prefer headers ask for (RFC 7240), the first of a kind counting.
type Preferences struct {
	Return      ReturnPreference
	Count       CountPreference
	Resolution  ResolutionPreference
	Missing     MissingPreference
	Handling    HandlingPreference
	Transaction TransactionPreference
	Page        PagePreference
	TimeZone    string // "" when none
	MaxAffected int64  // -1 when none
	// Invalid are the preferences that are not known, for handling=strict.
	Invalid []string
}

// LimitsAffected says that an action on more than MaxAffected rows must not be kept. How many rows an insert makes is in
// its body.
func (p *Preferences) LimitsAffected(action Action) bool {
	return p.Handling == HandlingStrict && p.MaxAffected >= 0 && (action == Update || action == Delete || action == Call)
}

// ReturnPreference is return=…
type ReturnPreference byte

// The values of return=.
const (
	ReturnUnset ReturnPreference = iota
	ReturnMinimal
	ReturnHeadersOnly
	ReturnRepresentation
)

// CountPreference is count=…
type CountPreference byte

// The values of count=.
const (
	CountNone CountPreference = iota
	CountExact
	CountPlanned
	CountEstimated
)

// ResolutionPreference is resolution=…
type ResolutionPreference byte

// The values of resolution=.
const (
	ResolutionNone ResolutionPreference = iota
	MergeDuplicates
	IgnoreDuplicates
)

// MissingPreference is missing=…
type MissingPreference byte

// The values of missing=.
const (
	MissingUnset MissingPreference = iota
	MissingNull
	MissingDefault
)

// HandlingPreference is handling=…
type HandlingPreference byte

// The values of handling=.
const (
	HandlingUnset HandlingPreference = iota
	HandlingStrict
	HandlingLenient
)

// TransactionPreference is tx=…
type TransactionPreference byte

// The values of tx=.
const (
	TransactionUnset TransactionPreference = iota
	TransactionCommit
	TransactionRollback
)

// PagePreference is page=…, which is our own.
type PagePreference byte

// The values of page=.
const (
	PageUnset PagePreference = iota
	PageKeyset
)
