// Package models judges production code.
package models

import (
	"example.org/m/core/fine" // want import
	"example.org/m/core/node"
)

// Answer is a value, which rules may allow.
const Answer = node.Answer

var _ = fine.ErrFine
