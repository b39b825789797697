// Package fielderrors tells what is wrong with a document, to people: admission when it is written, controllers when they are to fulfil it. It knows
// neither documents nor who reads them.
package fielderrors

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/internal/truncate"
)

const (
	// maxErrors is how many are told. Documents have room for many thousands, and putting them into one message takes the square of their number.
	maxErrors = 50
	// maxValue is how many bytes of a wrong value are shown.
	maxValue = 256
)

// Limit is as many of the errors as somebody reads, and one that tells how many there are besides.
func Limit(errs field.ErrorList) field.ErrorList {
	reported := make(field.ErrorList, 0, maxErrors+1)
	for i, fieldErr := range errs {
		if i == maxErrors {
			reported = append(reported, &field.Error{
				Type: field.ErrorTypeInvalid, Field: fieldErr.Field, BadValue: field.OmitValueType{},
				Detail: fmt.Sprintf("%d more errors from here on: correct the others first", len(errs)-maxErrors),
			})
			break
		}
		reported = append(reported, shortened(fieldErr))
	}
	return reported
}

// Error is one error that tells of all that Readable leaves; nil when there are no errors.
func Error(errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil // and not an interface of one
	}
	return Limit(errs).ToAggregate()
}

func shortened(fieldErr *field.Error) *field.Error {
	value := reflect.ValueOf(fieldErr.BadValue)
	if value.Kind() != reflect.String || value.Len() <= maxValue {
		return fieldErr
	}
	short := *fieldErr
	short.BadValue = truncate.Text(value.String(), maxValue)
	return &short
}
