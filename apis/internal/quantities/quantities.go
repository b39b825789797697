// Package quantities keeps amounts away from the parser of Kubernetes that it would compute with for hours, in gigabytes of memory: it takes every
// exponent of 32 bits, and writes such numbers out.
package quantities

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

const (
	// maxLength is that of an amount, maxExponent the number of digits of its exponent. What is beyond is an amount of nothing.
	maxLength, maxExponent = 64, 2
	// maxShown is how much there is to see of one that is too long.
	maxShown = 20
)

// Check returns what is wrong with an amount that must not come to the parser, with what to do about it.
func Check(text string) error {
	if len(text) > maxLength {
		return &implausibleError{text[:maxShown] + "…"}
	}
	if i := strings.IndexAny(text, "eE"); i >= 0 && len(strings.TrimLeft(text[i+1:], "+-0")) > maxExponent {
		return &implausibleError{text}
	}
	return nil
}

// Quantity stands for an amount in a shape for CheckIn. Nothing is kept of it.
type Quantity struct{}

// UnmarshalJSON checks the amount.
func (*Quantity) UnmarshalJSON(data []byte) error { return Check(strings.Trim(string(data), `" `)) }

// CheckIn is Check for a document. shape points to a value of a type with an Amount wherever the document has an amount. Everything else that may be wrong
// with the document is for those to say who decode it.
func CheckIn(document []byte, shape any) error {
	if wrong, ok := errors.AsType[*implausibleError](json.Unmarshal(document, shape)); ok {
		return wrong
	}
	return nil
}

type implausibleError struct{ text string }

func (i *implausibleError) Error() string {
	return fmt.Sprintf("there is nothing of which anybody has %q: give an amount like 4, 500m or 16Gi", i.text)
}
