// Package quantities rejects quantities for which Kubernetes' parser would need hours and gigabytes of memory: it accepts every exponent of 32
// bits, and expands such numbers.
package quantities

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

const (
	// maxLength is the maximum length of a quantity, maxExponent the maximum number of digits of its exponent. No real quantity
	// exceeds them.
	maxLength, maxExponent = 64, 2
	// maxShown is how many characters of a too long quantity an error contains.
	maxShown = 20
)

// Check returns what is wrong with a quantity that must not be parsed, and what to do about it.
func Check(text string) error {
	if len(text) > maxLength {
		return &implausibleError{text[:maxShown] + "…"}
	}
	if i := strings.IndexAny(text, "eE"); i >= 0 && len(strings.TrimLeft(text[i+1:], "+-0")) > maxExponent {
		return &implausibleError{text}
	}
	return nil
}

// Quantity is the type of a quantity in a shape for CheckIn. It stores nothing.
type Quantity struct{}

// UnmarshalJSON checks the quantity.
func (*Quantity) UnmarshalJSON(data []byte) error { return Check(strings.Trim(string(data), `" `)) }

// CheckIn is Check for a document. shape points to a value of a type with a Quantity wherever the document has a quantity. All other errors in the
// document are left to its decoder.
func CheckIn(document []byte, shape any) error {
	if wrong, ok := errors.AsType[*implausibleError](json.Unmarshal(document, shape)); ok {
		return wrong
	}
	return nil
}

// CheckNodeTemplate is CheckIn for the WorkerConfig of a cloud, which has a nodeTemplate.
func CheckNodeTemplate(document []byte) error {
	var shape struct {
		NodeTemplate struct {
			Capacity, VirtualCapacity map[string]Quantity
		}
	}
	if err := CheckIn(document, &shape); err != nil {
		return fmt.Errorf("nodeTemplate: %w", err)
	}
	return nil
}

type implausibleError struct{ text string }

func (i *implausibleError) Error() string {
	return fmt.Sprintf("there is nothing of which anybody has %q: give an amount like 4, 500m or 16Gi", i.text)
}
