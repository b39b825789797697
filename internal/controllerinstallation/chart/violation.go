package chart

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// violationMessages returns a sentence for each violation of a schema, with its place and reason. No sentence contains a value, which may be secret,
// since a status has many readers.
func violationMessages(violated *jsonschema.ValidationError, at string) []string {
	var messages []string
	for _, top := range resolveReferences(violated.Causes) {
		messages = append(messages, violationMessage(top, at)...)
	}
	return messages
}

// violationMessage returns one sentence, or one for each reason if the reasons have only the place in common.
func violationMessage(violated *jsonschema.ValidationError, at string) []string {
	location := locationOf(violated, at)
	apart := isGroup(violated)
	var details []string
	for _, leaf := range leaves(violated) {
		detail := locationOf(leaf, at)
		if detail == location && !apart {
			details = append(details, reasonOf(leaf.ErrorKind))
		} else {
			details = append(details, detail+": "+reasonOf(leaf.ErrorKind))
		}
	}
	slices.Sort(details)
	details = slices.Compact(details)
	switch {
	case len(details) == 0:
		return []string{location + ": " + reasonOf(violated.ErrorKind)}
	case apart:
		return details
	}
	return []string{location + ": " + reasonOf(violated.ErrorKind) + " (" + strings.Join(details, "; ") + ")"}
}

// leaves returns the violations below one that are the reason for it.
func leaves(violated *jsonschema.ValidationError) []*jsonschema.ValidationError {
	var found []*jsonschema.ValidationError
	for _, cause := range resolveReferences(violated.Causes) {
		if len(cause.Causes) == 0 {
			found = append(found, cause)
		} else {
			found = append(found, leaves(cause)...)
		}
	}
	return found
}

// resolveReferences returns the violations behind references.
func resolveReferences(causes []*jsonschema.ValidationError) []*jsonschema.ValidationError {
	var found []*jsonschema.ValidationError
	for _, cause := range causes {
		if _, isReference := cause.ErrorKind.(*kind.Reference); isReference && len(cause.Causes) == 1 {
			found = append(found, resolveReferences(cause.Causes)...)
		} else {
			found = append(found, cause)
		}
	}
	return found
}

func isGroup(violated *jsonschema.ValidationError) bool {
	switch violated.ErrorKind.(type) {
	case *kind.Group, *kind.Reference:
		return true
	}
	return false
}

func locationOf(violated *jsonschema.ValidationError, at string) string {
	return strings.Join(append([]string{at}, violated.InstanceLocation...), ".")
}

// reasonOf returns the validator's message, except where that message contains more of the value than its type.
func reasonOf(reason jsonschema.ErrorKind) string {
	switch reason := reason.(type) {
	case *kind.Pattern:
		return fmt.Sprintf("the value does not match pattern '%s'", reason.Want)
	case *kind.Format:
		return "the value is not valid " + reason.Want
	case *kind.ContentEncoding:
		return fmt.Sprintf("the value is not encoded as %s", reason.Want)
	case *kind.ContentMediaType:
		return fmt.Sprintf("the value is not of media type %s", reason.Want)
	case *kind.Minimum:
		return "must be at least " + number(reason.Want)
	case *kind.Maximum:
		return "must be at most " + number(reason.Want)
	case *kind.ExclusiveMinimum:
		return "must be more than " + number(reason.Want)
	case *kind.ExclusiveMaximum:
		return "must be less than " + number(reason.Want)
	case *kind.MultipleOf:
		return "must be a multiple of " + number(reason.Want)
	case *kind.MinLength:
		return fmt.Sprintf("must have at least %d characters", reason.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("must have at most %d characters", reason.Want)
	case *kind.AdditionalProperties:
		slices.Sort(reason.Properties) // their order is random
	}
	return oneLine(reason.LocalizedString(message.NewPrinter(language.English)))
}

func number(of *big.Rat) string {
	value, _ := of.Float64()
	return strconv.FormatFloat(value, 'f', -1, 64)
}
