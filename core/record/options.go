package record

import (
	"errors"
	"fmt"
)

// Ranges of the decoding limits. The upper ends are where a 32-bit offset of an Arrow column or the
// tokenizer's own nesting bound would begin to matter.
const (
	DefaultMaxLineBytes = 1 << 20
	MinMaxLineBytes     = 64
	MaxMaxLineBytes     = 64 << 20

	DefaultMaxBodyBytes = 32 << 20
	MaxMaxBodyBytes     = 1 << 30

	DefaultMaxRecords = 1 << 16
	MaxMaxRecords     = 1 << 20

	DefaultMaxDepth = 32
	MaxMaxDepth     = 1000
)

// ErrTooLarge marks a body or a batch over its limit. Nothing of it was taken.
var ErrTooLarge = errors.New("too large")

// Options are the limits of a Decoder. The zero value is the default of each.
type Options struct {
	// MaxLineBytes is the longest record, without its line end; a longer one is refused alone.
	// 64 to 64 MiB, 0 means 1 MiB.
	MaxLineBytes int
	// MaxBodyBytes is the longest body of Lines; a longer one is refused whole. It may not be
	// smaller than MaxLineBytes. Up to 1 GiB, 0 means 32 MiB or MaxLineBytes, the larger.
	MaxBodyBytes int
	// MaxRecords is the largest number of rows of a batch. 1 to 1,048,576, 0 means 65,536.
	MaxRecords int
	// MaxDepth is how deep objects and arrays may nest, the record itself being the first level.
	// Only an ignored field can nest at all. 1 to 1,000, 0 means 32.
	MaxDepth int
	// IgnoreUnknown accepts a record with fields that the schema does not have and drops them. They
	// must still be well-formed JSON within the depth limit. By default such a record is refused,
	// because a misspelled optional field would otherwise be lost without a word.
	IgnoreUnknown bool
}

func (o Options) withDefaults() Options {
	if o.MaxLineBytes == 0 {
		o.MaxLineBytes = DefaultMaxLineBytes
	}
	if o.MaxBodyBytes == 0 {
		o.MaxBodyBytes = max(DefaultMaxBodyBytes, o.MaxLineBytes)
	}
	if o.MaxRecords == 0 {
		o.MaxRecords = DefaultMaxRecords
	}
	if o.MaxDepth == 0 {
		o.MaxDepth = DefaultMaxDepth
	}
	return o
}

// Validate reports every option that is out of its range.
func (o Options) Validate() error {
	o = o.withDefaults()
	var faults []error
	check := func(name string, n, low, high int) {
		if n < low || n > high {
			faults = append(faults, fmt.Errorf("%s is %d, want %d to %d", name, n, low, high))
		}
	}
	check("MaxLineBytes", o.MaxLineBytes, MinMaxLineBytes, MaxMaxLineBytes)
	check("MaxBodyBytes", o.MaxBodyBytes, o.MaxLineBytes, MaxMaxBodyBytes)
	check("MaxRecords", o.MaxRecords, 1, MaxMaxRecords)
	check("MaxDepth", o.MaxDepth, 1, MaxMaxDepth)
	if len(faults) > 0 {
		return fmt.Errorf("validate decode options: %w", errors.Join(faults...))
	}
	return nil
}
